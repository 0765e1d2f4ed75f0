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

// What the engine has to show to a person, as notifications to the client that shows it.

extension InteractionOpen.Params {
    init(_ opening: InteractionOpening) {
        self.init(
            interactionId: opening.interactionID, url: opening.url, redirectUri: opening.redirectURI,
            expiresOn: opening.expiresOn, correlationId: opening.correlationID)
    }
}

extension InteractionJoined.Params {
    init(_ joining: InteractionJoining) {
        self.init(
            interactionId: joining.interactionID, expiresOn: joining.expiresOn, correlationId: joining.correlationID)
    }
}

extension InteractionDeviceCode.Params {
    init(_ opening: DeviceCodeOpening) {
        self.init()
        interactionId = opening.interactionID
        userCode = opening.userCode
        verificationUri = opening.verificationURI
        verificationUriComplete = opening.verificationURIComplete
        expiresOn = opening.expiresOn
        interval = opening.interval
        message = opening.message
        correlationId = opening.correlationID
    }
}
