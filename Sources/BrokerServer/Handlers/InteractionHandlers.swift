import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `interaction.…`: both are quick, and end another request's wait.
struct InteractionHandlers: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] {
        [
            .atOnce(CompleteInteraction.self) { params, caller throws(BrokerError) in
                try services.broker.complete(redirectURL: Secret(params.url), in: caller.partition)
                return CompleteInteraction.Result()
            },
            .atOnce(CancelInteraction.self) { params, caller throws(BrokerError) in
                CancelInteraction.Result(
                    cancelled: services.broker.cancel(interactionID: params.interactionId, in: caller.partition))
            },
        ]
    }
}
