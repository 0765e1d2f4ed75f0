/// The terms that a user can choose, on the page and in a notification.
package enum GrantTerm: String, Sendable, CaseIterable {
    case today, month, always

    /// The lifetime in seconds; `nil` for the longest that the rules allow.
    package var lifetime: Int64? {
        switch self {
        case .today: 12 * 3600
        case .month: 30 * 86_400
        case .always: nil
        }
    }

    /// A sandbox without a confirmed name is allowed half a day at most.
    package static func offered(to caller: CallerIdentity) -> [GrantTerm] {
        caller.isUnnamedSandbox ? [.today] : allCases
    }
}
