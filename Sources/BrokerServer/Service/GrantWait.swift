import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request that waits until the person allows its caller, because it asked to (`waitForGrant`).
struct GrantWait: Sendable {
    private let error: BrokerError
    private let request: String
    private let expiresOn: NumericDate
    private let correlationID: String
    private let context: ConnectionContext
    private let grants: GrantStore

    /// `nil` if the caller does not wait, or the person was not asked.
    init?(
        _ error: BrokerError, _ facts: RequestFacts, _ context: ConnectionContext, _ policy: AccessPolicy
    ) {
        guard let seconds = facts.waitForGrant else { return nil }
        self.init(
            error, until: policy.grants.deadline(in: seconds), correlationID: facts.correlationID, context,
            policy.grants)
    }

    private init?(
        _ error: BrokerError, until expiresOn: NumericDate, correlationID: String, _ context: ConnectionContext,
        _ grants: GrantStore
    ) {
        guard error.kind == .grantRequired, let request = error.details.grantRequest else { return nil }
        self.error = error
        self.request = request
        self.expiresOn = expiresOn
        self.correlationID = correlationID
        self.context = context
        self.grants = grants
    }

    /// Tries admission again whenever the request was answered, or replaced by another one.
    ///
    /// - Throws: `grantRequired` if there was no answer in time; otherwise the error of the policy.
    func untilAdmitted<Admission>(
        _ admit: () throws(BrokerError) -> Admission
    ) async throws(BrokerError) -> Admission {
        var wait = self
        while true {
            try await wait.forAnswer()
            do throws(BrokerError) {
                return try admit()
            } catch {
                guard
                    let next = GrantWait(
                        error, until: expiresOn, correlationID: correlationID, context, grants)
                else { throw error }
                wait = next
            }
        }
    }

    private func forAnswer() async throws(BrokerError) {
        var notice = InteractionGrant.Params()
        notice.grantRequest = request
        notice.app = error.details.app ?? ""
        notice.caller = context.caller.forApps.id
        notice.message = error.message
        notice.expiresOn = expiresOn
        notice.correlationId = correlationID
        context.notify(InteractionGrant.self, notice)
        context.askPerson()
        switch await grants.answer(to: request, in: context.caller.partition, until: expiresOn) {
        case .settled: return
        case .timedOut: throw error
        case .brokerStops: throw .stopping
        }
    }
}
