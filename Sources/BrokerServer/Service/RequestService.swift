import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// The one path of every request, below all protocols: right, params, keys, app, work, answer, log. A front identifies the caller
/// (``ConnectionContext``), names a method, and writes the answer in its own protocol (``Reply``).
package final class RequestService: Sendable {
    let policy: AccessPolicy
    /// Opens the secrets of an answer while it is written.
    let vault: any RecordVault
    private let log: RequestLog
    private let handlers: [String: any AnyMethodHandler]
    /// Kept for as long as the service exists: methods observe the engine and the rights.
    private let observations: [Subscription]

    init(
        _ handlers: [any AnyMethodHandler], observing observations: [Subscription], policy: AccessPolicy,
        vault: any RecordVault, log: RequestLog
    ) {
        self.handlers = Dictionary(uniqueKeysWithValues: handlers.map { ($0.rules.name, $0) })
        (self.observations, self.policy, self.vault, self.log) = (observations, policy, vault, log)
    }

    /// The handler of the method with this name; `nil`, and a line in the log, if there is none.
    func handler(of method: String, in context: ConnectionContext) -> (any AnyMethodHandler)? {
        if let handler = handlers[method] { return handler }
        log.refused(
            .methodNotFound(method), RequestEntry.Subject(method: "a request", caller: context.audited),
            since: log.start())
        return nil
    }

    /// Begins a request, on the reactor's thread. The answer is in the reply when this returns, unless the request waits.
    ///
    /// - Parameter read: gives the params, or the front's own refusal. They are read after the caller's right to the method is checked.
    func begin<R: Reply>(
        _ rules: MethodRules, in context: ConnectionContext, _ reply: inout R,
        reading read: () throws(RequestRefusal) -> any PendingRequest
    ) -> Handling<R> {
        let start = log.start()
        var subject = RequestEntry.Subject(method: rules.name, caller: context.audited)
        do throws(BrokerError) {
            try requireRight(rules.permission, in: context)
            let pending: any PendingRequest
            do throws(RequestRefusal) { pending = try read() } catch {
                switch error {
                case .refused(let error): throw error
                case .malformed(let error):
                    log.refused(error, subject, since: start)
                    reply.refuse(error)
                    return .answered
                }
            }
            subject.correlationID = pending.facts.correlationID
            subject.app = pending.facts.app
            let entry = RequestEntrance(pending, rules, policy, context)
            guard let request = try entry.admitNow() else {
                return later(entry, subject, since: start) { () throws(BrokerError) in try await entry.admitLater() }
            }
            var isUnderWay = false
            defer { if !isUnderWay { policy.leave(neededKeys: rules.needsKeys) } }
            switch try request.begin() {
            case .done(let completion):
                try reply.give(completion.answer, correlationID: pending.facts.correlationID)
                log.done(completion.outcome, subject, since: start)
            case .waits(let output):
                isUnderWay = true
                return later(entry, subject, since: start, work: .waits(output)) { request }
            }
        } catch {
            reply.fail(log.failed(policy.fitting(error, subject.caller), subject, since: start))
        }
        return .answered
    }

    /// The rights of the person's own tools, whatever the params are.
    private func requireRight(_ permission: Permission, in context: ConnectionContext) throws(BrokerError) {
        switch permission {
        case .administration: try policy.requireAdministrator(context.callerNow())
        case .ownership: try policy.requireOwnerOfBroker(context.callerNow())
        case .person, .app, .appOrPersonal: break
        }
    }

    /// The rest of a request, in a task of its own. Each admitted request leaves at its end.
    private func later<R: Reply>(
        _ entry: RequestEntrance, _ subject: RequestEntry.Subject, since start: Duration,
        work begun: Work<CompletedWork>? = nil,
        _ admitted: @escaping @Sendable () async throws(BrokerError) -> any AdmittedRequest
    ) -> Handling<R> {
        .waits { [self] reply in
            do throws(BrokerError) {
                let request = try await admitted()
                defer { policy.leave(neededKeys: entry.rules.needsKeys) }
                let work = if let begun { begun } else { try request.begin() }
                let completion = try await entry.finish(work)
                try entry.confirm(request)
                try reply.give(completion.answer, correlationID: entry.facts.correlationID)
                log.done(completion.outcome, subject, since: start)
                guard reply.isAwaited, case .watch(let watch) = completion.answer else { return nil }
                return watch.begin
            } catch {
                reply.fail(log.failed(policy.fitting(error, subject.caller), subject, since: start))
                return nil
            }
        }
    }
}

/// Admits one request, and checks it once more before its answer leaves. It is the same for every method.
private struct RequestEntrance: Sendable {
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
            // Nobody is asked for what a locked broker refuses anyway.
            if rules.needsKeys { try policy.requireUnlocked() }
            try await policy.requirePresence(question, of: context.caller)
            try policy.requireAdministrator(context.callerNow())
        }
        try await policy.lookUp(asking)
        do throws(BrokerError) { return try admit() } catch {
            guard let wait = GrantWait(error, facts, context, policy.grants) else { throw error }
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
