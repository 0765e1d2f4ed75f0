import BrokerRPC
import BrokerValues

/// The requests that wait for a person, each with its page or code and a connection of its own.
package enum InteractiveSession {
    /// Carries out `token.acquireInteractive` and shows the sign-in page when the broker asks for it.
    ///
    /// Equal requests share one page. Cancelling the task only leaves the sign-in while another request waits for it.
    ///
    /// - Parameter joined: called on the connection's thread if there is such a page.
    /// - Returns: the token, as the broker wrote it.
    package static func run(
        _ params: AcquireTokenInteractive.Params, at location: SocketLocation, browser: any BrowserOpening,
        joined: @escaping @Sendable () -> Void = {}
    ) async throws(BrokerClientError) -> JSONNode {
        try await InteractionCall.run(AcquireTokenInteractive.self, params, at: location, joined: joined) {
            if case .open(let opening) = $0 { try await browser.open(SignInPage(opening)) }
        }
    }

    /// Carries out `accounts.signOut` and shows the provider's page when the broker asks for it.
    ///
    /// - Returns: the stages, as the broker wrote them.
    package static func run(
        _ params: SignOutAccount.Params, at location: SocketLocation, browser: any BrowserOpening
    ) async throws(BrokerClientError) -> JSONNode {
        try await InteractionCall.run(SignOutAccount.self, params, at: location) {
            if case .open(let opening) = $0 { try await browser.open(SignInPage(opening)) }
        }
    }

    /// Carries out `token.acquireByDeviceCode`.
    ///
    /// - Parameter onCode: shows code and address to the person.
    /// - Returns: the token, as the broker wrote it.
    package static func run(
        _ params: AcquireTokenByDeviceCode.Params, at location: SocketLocation,
        onCode: @escaping @Sendable (DeviceCodeOpening) async throws -> Void
    ) async throws(BrokerClientError) -> JSONNode {
        try await InteractionCall.run(AcquireTokenByDeviceCode.self, params, at: location) {
            if case .deviceCode(let code) = $0 { try await onCode(code) }
        }
    }
}

extension SignInPage {
    init(_ opening: InteractionOpening) {
        self.init(
            url: opening.url, redirectUri: opening.redirectURI, expiresOn: opening.expiresOn,
            interactionId: opening.interactionID, correlationId: opening.correlationID)
    }
}
