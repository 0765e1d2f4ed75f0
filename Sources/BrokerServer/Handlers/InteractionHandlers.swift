import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `interaction.…`: both are quick, and end another request's wait.
struct InteractionHandlers: Sendable {
    let broker: TokenBroker

    var all: [any AnyMethodHandler] {
        [
            .atOnce(CompleteInteraction.self) { request throws(BrokerError) in
                try broker.complete(
                    redirectURL: Secret(request.params.url), from: request.context.caller.interactions)
                return CompleteInteraction.Result()
            },
            .atOnce(CancelInteraction.self, outcome: { .answered(CancelInteraction.self, changed: $1.cancelled) }) {
                request in
                CancelInteraction.Result(
                    cancelled: broker.cancel(
                        interactionID: request.params.interactionId, by: request.context.caller.interactions))
            },
        ]
    }
}

extension Caller {
    /// The interactions that it may end, or complete with a redirect.
    fileprivate var interactions: InteractionOwner {
        isOutside ? .person(partition) : .beginner(claimant, partition)
    }
}
