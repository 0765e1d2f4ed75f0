import BrokerAccess
import BrokerOIDCAgent
import BrokerRPC
import BrokerSocket
import BrokerValues

/// One connection: an optional key exchange, one request, its answer.
final class OIDCAgentConversation: Conversation {
    private let service: RequestService
    private let names: AppAliases
    private let isShut: Bool
    private let wire = OIDCAgentWire()
    private(set) var isOver = false

    init(_ service: RequestService, _ names: AppAliases, isShut: Bool) {
        (self.service, self.names, self.isShut) = (service, names, isShut)
    }

    func makeSplitter(limit: Int) -> any MessageSplitter { OIDCAgentSplitter(wire: wire) }

    func begin(
        _: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError?,
        _ writer: inout JSONWriter
    ) -> MessageHandling {
        switch wire.takeStep() {
        case nil, .needsMore: return .answered
        case .write(let bytes):
            writer.json(bytes)
            return .answered
        case .refuse(let refusal):
            isOver = true
            fail(refusal.failure, &writer)
            return .answered
        case .ask(let request):
            isOver = true
            if isShut {
                fail(.shut, &writer)
            } else if let refusal {
                fail(AgentFailure(refusal, app: nil), &writer)
            } else {
                return ask(request, in: context, &writer)
            }
            return .answered
        }
    }

    private func fail(_ failure: AgentFailure, _ writer: inout JSONWriter) {
        writer.json(wire.exchange.answer(failure))
    }

    private func ask(
        _ request: AgentRequest, in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> MessageHandling {
        let (service, names, exchange) = (service, names, wire.exchange)
        let policy = service.policy
        // The names of apps are listed only when the owner of the records is known. A locked broker lists none, and must be
        // reached to be unlocked.
        let asking = AdmissionRequest(
            context.caller, now: context.callerNow, connectedAt: context.connectedAt, needsKeys: false,
            reaching: .everything)
        guard policy.mustLookUp(asking) || request.looksThroughApps else {
            return Self.begin(request, exchange, names, service, in: context, &writer)
        }
        return .waits(requests: 1) { writer, holds in
            do throws(BrokerError) { try await policy.lookUp(asking) } catch {
                writer.json(exchange.answer(AgentFailure(error, app: nil)))
                return nil
            }
            let handling = Self.begin(request, exchange, names, service, in: context, &writer)
            guard case .waits(_, _, let rest) = handling else { return nil }
            return await rest(&writer, holds)
        }
    }

    private static func begin(
        _ request: AgentRequest, _ exchange: AgentExchange, _ names: AppAliases, _ service: RequestService,
        in context: ConnectionContext, _ writer: inout JSONWriter
    ) -> MessageHandling {
        let question = OIDCAgentQuestion(request, of: context.caller, names, service.policy)
        guard let handler = service.handler(of: question.method, in: context) else { return .answered }
        var reply = OIDCAgentReply(question, exchange, from: service.vault)
        let handling = service.begin(handler.rules, in: context, &reply) { () throws(RequestRefusal) in
            if let error = question.error { throw .refused(error) }
            return try handler.read(Call(id: nil, method: question.method, params: question.params))
        }
        guard case .waits(let rest) = handling else {
            writer.json(reply.bytes)
            return .answered
        }
        return .waits(requests: 1) { [reply] writer, _ in
            var reply = reply
            let after = await rest(&reply)
            writer.json(reply.bytes)
            return after
        }
    }
}
