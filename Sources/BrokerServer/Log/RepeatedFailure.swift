import BrokerAccess
import BrokerModel
import BrokerValues

/// What makes two failures the same for the journal: a program that asks in a circle is told of once a minute.
struct RepeatedFailure: Hashable, Sendable {
    /// Whose failures count together.
    struct Owner: Hashable, Sendable {
        let partition: Partition
        let claimant: QuotaOwner

        init(_ caller: Caller) { (partition, claimant) = (caller.partition, caller.spender.orAllUnnamed) }
    }

    enum Failure: Hashable, Sendable {
        case failed(ErrorKind, ErrorReason?)
        /// No proper request: the code of JSON-RPC.
        case refused(code: Int64)
    }

    let owner: Owner
    let app: String?
    let method: String
    let failure: Failure

    init(_ failure: Failure, of subject: RequestEntry.Subject) {
        owner = Owner(subject.caller)
        (app, method) = (subject.app, subject.method)
        self.failure = failure
    }
}
