import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `interaction.…`: both are quick, and end another request's wait.
struct InteractionHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .atOnce(CompleteInteraction.self) { request throws(BrokerError) in
                try services.broker.complete(redirectURL: Secret(request.params.url), in: request.partition)
                return CompleteInteraction.Result()
            },
            .atOnce(CancelInteraction.self) { request in
                CancelInteraction.Result(
                    cancelled: services.broker.cancel(
                        interactionID: request.params.interactionId, in: request.partition))
            },
        ]
    }
}
