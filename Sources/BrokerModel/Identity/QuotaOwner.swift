import BrokerValues

/// Whose use of what is limited counts together, so that nobody can take everybody's places.
package enum QuotaOwner: Sendable, Hashable {
    case process(pid: Int32)
    /// All processes of one program: it can have as many process numbers as it likes.
    case program(CallerIdentity)
    /// All processes of one sandbox whose name is confirmed from outside.
    case sandbox(String)
    /// All processes in one unit that are in a sandbox without a confirmed name.
    case unnamedSandbox(unit: String)
    /// All callers of whom nothing is known.
    case unidentified

    /// Whether it can multiply: a sandbox without a confirmed name can nest others, make cgroups, and hide its processes. So all
    /// of these of one user have one share together.
    package var isUnnamed: Bool {
        switch self {
        case .unnamedSandbox, .unidentified: true
        case .process, .program, .sandbox: false
        }
    }

    /// The claimant, or the one that stands for all unnamed ones.
    package var orAllUnnamed: QuotaOwner { isUnnamed ? .unidentified : self }
}
