import BrokerValues

/// The owner of a share of a limited resource, so that no caller can take all of it.
package enum QuotaOwner: Sendable, Hashable {
    case process(pid: Int32)
    /// All processes of one program: it can have any number of process ids.
    case program(CallerIdentity)
    /// All processes of one sandbox whose name was confirmed from outside.
    case sandbox(String)
    /// All processes in one unit that are in a sandbox without a confirmed name.
    case unnamedSandbox(unit: String)
    /// All callers without known identity.
    case unidentified

    /// Whether it can multiply: a sandbox without a confirmed name can nest others, make cgroups, and hide its processes. So all
    /// of these of one user share one quota.
    package var isUnnamed: Bool {
        switch self {
        case .unnamedSandbox, .unidentified: true
        case .process, .program, .sandbox: false
        }
    }

    /// The owner, or the one for all unnamed owners.
    package var orAllUnnamed: QuotaOwner { isUnnamed ? .unidentified : self }
}
