import BrokerAccess
import BrokerModel
import BrokerValues

/// The key of equal entries in the journal: a program that asks in a loop is logged once a minute.
struct RepeatedEntry: Hashable, Sendable {
    /// The owner of entries that count together.
    struct Owner: Hashable, Sendable {
        let partition: Partition
        let claimant: QuotaOwner

        init(_ caller: Caller) { (partition, claimant) = (caller.partition, caller.spender.orAllUnnamed) }
    }

    enum Outcome: Hashable, Sendable {
        case done
        case failed(ErrorKind, ErrorReason?)
        /// Not a valid request: the code of JSON-RPC.
        case refused(code: Int64)
    }

    let owner: Owner
    let app: String?
    let method: String
    let outcome: Outcome

    init(_ outcome: Outcome, of subject: RequestEntry.Subject) {
        owner = Owner(subject.caller)
        (app, method) = (subject.app, subject.method)
        self.outcome = outcome
    }
}
