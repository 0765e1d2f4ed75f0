import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request that waits until the person allows its caller, because it asked to (`waitForGrant`).
struct GrantWait: Sendable {
    private var error: BrokerError
    private var request: String
    private let expiresOn: NumericDate
    private let correlationID: String
    private let context: ConnectionContext
    private let grants: GrantStore

    /// `nil` if the caller does not wait, or the person was not asked.
    init?(_ error: BrokerError, _ facts: RequestFacts, _ context: ConnectionContext, _ grants: GrantStore) {
        guard let seconds = facts.waitForGrant, let request = error.openRequest else { return nil }
        (self.error, self.request, self.context, self.grants) = (error, request, context, grants)
        (expiresOn, correlationID) = (grants.deadline(in: seconds), facts.correlationID)
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
                guard let request = error.openRequest else { throw error }
                (wait.error, wait.request) = (error, request)
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

extension BrokerError {
    /// The request that waits for the person.
    fileprivate var openRequest: String? { kind == .grantRequired ? details.grantRequest : nil }
}
