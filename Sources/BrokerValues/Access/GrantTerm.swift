/// How long a person can agree to, on the page and in a notice.
package enum GrantTerm: String, Sendable, CaseIterable {
    case today, month, always

    /// Seconds; nil for as long as the rules allow.
    package var lifetime: Int64? {
        switch self {
        case .today: 12 * 3600
        case .month: 30 * 86_400
        case .always: nil
        }
    }

    /// A sandbox that nobody vouches for is allowed half a day at most.
    package static func offered(to caller: CallerIdentity) -> [GrantTerm] {
        caller.isUnnamedSandbox ? [.today] : allCases
    }
}
