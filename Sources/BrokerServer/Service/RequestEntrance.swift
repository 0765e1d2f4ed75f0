import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// Admits one request, and checks it once more before its answer leaves. It is the same for every method.
struct RequestEntrance: Sendable {
    let facts: RequestFacts
    let rules: MethodRules
    private let pending: any PendingRequest
    private let asking: AdmissionRequest
    private let policy: AccessPolicy
    private let context: ConnectionContext

    init(_ pending: any PendingRequest, _ rules: MethodRules, _ policy: AccessPolicy, _ context: ConnectionContext) {
        facts = pending.facts
        (self.pending, self.rules, self.policy, self.context) = (pending, rules, policy, context)
        asking = AdmissionRequest(
            context.caller, now: context.callerNow, connectedAt: context.connectedAt, right: rules.right,
            needsKeys: rules.needsKeys, reaching: facts.reach)
    }

    private var question: PresenceQuestion? { policy.question(for: rules.name, facts.presence, of: context.caller) }

    /// - Returns: `nil` if the request must wait first, for the person or a lookup.
    func admitNow() throws(BrokerError) -> (any AdmittedRequest)? {
        guard question == nil, !policy.mustLookUp(asking) else { return nil }
        do throws(BrokerError) { return try admit() } catch {
            guard error.kind == .grantRequired, facts.waitForGrant != nil else { throw error }
            return nil
        }
    }

    /// Admits a request once the owner of the records is known and the person allows the caller.
    func admitLater() async throws(BrokerError) -> any AdmittedRequest {
        if let question {
            try await policy.requirePresence(question, of: context.caller)
            try policy.requireAdministrator(context.callerNow())
        }
        try await policy.lookUp(asking)
        do throws(BrokerError) { return try admit() } catch {
            guard let wait = GrantWait(error, facts, context, policy) else { throw error }
            return try await wait.untilAdmitted { () throws(BrokerError) in try admit() }
        }
    }

    private func admit() throws(BrokerError) -> any AdmittedRequest {
        try pending.admit(by: policy, asking, in: context)
    }

    func finish(_ work: Work<CompletedWork>) async throws(BrokerError) -> CompletedWork {
        switch work {
        case .done(let completion): return completion
        case .waits(let output):
            // Root's requests about other users store nothing in a partition.
            if rules.needsKeys, rules.permission != .ownership {
                try await policy.prepare(context.caller.partition, adds: rules.addsRecords)
            }
            return try await output()
        }
    }

    /// A request that waited may have outlived its right, and its caller may be inside of a sandbox by now.
    func confirm(_ request: any AdmittedRequest) throws(BrokerError) {
        if context.hasMoved(false) { throw .movedMeanwhile(context.caller) }
        try request.confirm(by: policy)
    }
}
