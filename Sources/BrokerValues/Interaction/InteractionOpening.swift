/// The content of `interaction.open`.
package struct InteractionOpening: Sendable {
    package var interactionID: String
    package var url: String
    package var redirectURI: String
    package var expiresOn: NumericDate
    package var correlationID: String

    package init(
        interactionID: String, url: String, redirectURI: String, expiresOn: NumericDate, correlationID: String
    ) {
        self.interactionID = interactionID
        self.url = url
        self.redirectURI = redirectURI
        self.expiresOn = expiresOn
        self.correlationID = correlationID
    }
}

/// The content of `interaction.joined`: another request has the window, and its outcome is this one's, too.
package struct InteractionJoining: Sendable {
    package var interactionID: String
    /// When this request times out.
    package var expiresOn: NumericDate
    package var correlationID: String

    package init(interactionID: String, expiresOn: NumericDate, correlationID: String) {
        self.interactionID = interactionID
        self.expiresOn = expiresOn
        self.correlationID = correlationID
    }
}

/// The content of `interaction.deviceCode`.
package struct DeviceCodeOpening: Sendable, Equatable {
    package var interactionID: String
    package var userCode: String
    package var verificationURI: String
    package var verificationURIComplete: String?
    /// The page's host, if it is not the provider's.
    package var otherHost: String?
    package var expiresOn: NumericDate
    /// The pause between polls of the token endpoint, in seconds (RFC 8628, section 3.2).
    package var interval: Int64
    package var message: String
    package var correlationID: String

    package init(
        interactionID: String, userCode: String, verificationURI: String, verificationURIComplete: String?,
        otherHost: String? = nil, expiresOn: NumericDate, interval: Int64, message: String, correlationID: String
    ) {
        self.interactionID = interactionID
        self.userCode = userCode
        self.verificationURI = verificationURI
        self.verificationURIComplete = verificationURIComplete
        self.otherHost = otherHost
        self.expiresOn = expiresOn
        self.interval = interval
        self.message = message
        self.correlationID = correlationID
    }
}
