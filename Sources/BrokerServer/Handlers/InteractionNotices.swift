import BrokerEngine
import BrokerRPC

/// What the engine has to show to a person, as notifications to the client that shows it.
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

extension ConnectionContext {
    func notify<N: BrokerNotification>(_ notification: N.Type, _ params: N.Params) {
        var line = JSONWriter()
        line.notification(notification, params)
        line.endLine()
        notify(line)
    }
}
