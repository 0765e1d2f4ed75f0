import BrokerModel
import BrokerValues

/// How far a sign-out goes (MSAL, "Accounts"). Pure.
package enum SignOutReach: Sendable, Equatable {
    /// One app; the others of its group keep the account.
    case app
    /// All apps of one group.
    case group
    /// All apps of the person.
    case everything

    /// - Parameters:
    ///   - hasApp: false for the person's own tools, which name none.
    ///   - isSharedDevice: there the next person must find nothing of this one.
    package init(hasApp: Bool, wipe: Bool, isSharedDevice: Bool) {
        if !hasApp || isSharedDevice {
            self = .everything
        } else {
            self = wipe ? .group : .app
        }
    }

    /// Whether somebody else may use tokens that the sign-out would take.
    package var sparesOthers: Bool { self == .app }
}
