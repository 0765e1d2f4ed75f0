import BrokerModel
import BrokerValues

/// How far a sign-out goes (MSAL, "Accounts"). Pure.
package enum SignOutReach: Sendable, Equatable {
    /// One app; the others in its group keep the account.
    case app
    /// All apps of one group.
    case group
    /// All apps of the person.
    case everything

    /// - Parameters:
    ///   - hasApp: false for the person's own tools, which name none.
    ///   - isSharedDevice: on such a device the next person must find nothing of this one.
    package init(hasApp: Bool, wipe: Bool, isSharedDevice: Bool) {
        if !hasApp || isSharedDevice {
            self = .everything
        } else {
            self = wipe ? .group : .app
        }
    }

    /// Whether tokens that the sign-out would remove may be in use by other apps.
    package var sparesOthers: Bool { self == .app }
}
