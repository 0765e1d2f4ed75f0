import BrokerAccess
import BrokerEngine
import BrokerRPC
import BrokerValues

/// `broker.subscribe`: the engine's events as notifications on the subscriber's connection.
struct EventHandlers: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] { [subscribe] }

    private var subscribe: Route {
        Route(method: Subscribe.self) { call, context, writer in
            let request: AdmittedRequest<Subscribe>
            do throws(RPCError) { request = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            do throws(BrokerError) {
                try begin(request.params, for: context)
                let topics = Self.ordered(request.params.topics)
                if let id = call.id { writer.answer(Subscribe.Result(subscribed: topics), to: id) }
            } catch {
                request.fail(error, &writer)
            }
            return .answered
        }
    }

    private func begin(_ params: Subscribe.Params, for context: ConnectionContext) throws(BrokerError) {
        let caller = context.caller
        var app: AppReference?
        if let selection = params.selection { app = AppReference(selection) }
        let group = try app.map { app throws(BrokerError) in
            try services.policy.admit(caller, as: app).effectiveGroup
        }
        if group == nil { try PermissionGate.requireUnsandboxed(caller) }
        let notify = context.notify
        context.subscribe(
            params.topics.isEmpty
                ? nil
                : services.broker.subscribe(to: Set(params.topics), group: group, in: caller.partition) {
                    notify(Self.line($0))
                })
    }

    private static func ordered(_ topics: [EventTopic]) -> [EventTopic] {
        EventTopic.allCases.filter(topics.contains)
    }

    private static func line(_ event: EngineEvent) -> JSONWriter {
        var line = JSONWriter()
        switch event.change {
        case .account(let change, let account):
            line.notification(AccountEvent.self, AccountEvent.Params(change, app: event.app, account))
        case .token(let change, let accountID, let scopes, let expiresOn):
            line.notification(
                TokenEvent.self,
                TokenEvent.Params(
                    change, app: event.app, accountId: accountID, scopes: scopes, expiresOn: expiresOn))
        case .interaction(let change, let id, let error):
            line.notification(
                InteractionEvent.self,
                InteractionEvent.Params(change, app: event.app, interactionId: id, errorKind: error))
        }
        line.endLine()
        return line
    }
}
