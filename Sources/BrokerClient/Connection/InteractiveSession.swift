import BrokerRPC
import Synchronization

/// One sign-in from the client's side: the request that waits, the page that is shown, and the wish to end it.
///
/// Whichever comes first decides what the caller is told: the broker's answer, a page that cannot be shown, or the
/// cancellation of the caller's task. The latter two also end the sign-in at the broker, at once or as soon as its id
/// is known; the caller does not wait for that.
package final class InteractiveSession: Sendable {
    package typealias Outcome = Result<JSONNode, BrokerClientError>

    private struct State {
        var caller: CheckedContinuation<Outcome, Never>?
        var ending: BrokerClientError?
        var interactionID: String?
        var isDecided = false
    }

    private let connection: BrokerConnection
    private let params: AcquireTokenInteractive.Params
    private let browser: any BrowserOpening
    private let joined: @Sendable () -> Void
    private let state = Mutex(State())

    private init(
        _ connection: BrokerConnection, _ params: AcquireTokenInteractive.Params, _ browser: any BrowserOpening,
        _ joined: @escaping @Sendable () -> Void
    ) {
        self.connection = connection
        self.params = params
        self.browser = browser
        self.joined = joined
    }

    /// Carries out `token.acquireInteractive` and shows the sign-in page when the broker asks for it.
    ///
    /// Who joined a sign-in whose page another request has shown only stops waiting when its task is cancelled: the page is
    /// the other's to close.
    ///
    /// - Parameter joined: is told, on the connection's thread, when there is such a page.
    /// - Returns: the token, as the broker wrote it.
    package static func run(
        _ params: AcquireTokenInteractive.Params, on connection: BrokerConnection, browser: any BrowserOpening,
        joined: @escaping @Sendable () -> Void = {}
    ) async throws(BrokerClientError) -> JSONNode {
        var params = params
        params.correlationId = params.correlationId ?? CorrelationID.make()
        return try await InteractiveSession(connection, params, browser, joined).outcome().get()
    }

    private func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state in
                    if state.ending == nil { state.caller = continuation }
                    return state.ending
                }
                if let early { return continuation.resume(returning: .failure(early)) }
                Task { await request() }
            }
        } onCancel: {
            end(.taskCancelled)
        }
    }

    private func request() async {
        let observer = InteractionObserver(
            correlationID: params.correlationId ?? "", opened: { self.opened($0) }, joined: { _ in self.joined() })
        do throws(BrokerClientError) {
            decide(
                .success(try await connection.result(of: AcquireTokenInteractive.self, params, interaction: observer)))
        } catch {
            decide(.failure(error))
        }
    }

    /// Called on the connection's thread.
    private func opened(_ opening: InteractionOpen.Params) {
        let (isFirst, isEnded) = state.withLock { state in
            defer { state.interactionID = state.interactionID ?? opening.interactionId }
            return (state.interactionID == nil, state.ending != nil)
        }
        guard isFirst else { return }
        guard !isEnded else { return cancelAtBroker(opening.interactionId) }
        Task {
            do {
                try await browser.open(SignInPage(opening))
            } catch {
                let reason = error as? BrokerClientError
                end(
                    reason
                        ?? BrokerClientError(.browserNotAvailable, "The sign-in page could not be shown.", cause: error)
                )
            }
        }
    }

    private func end(_ error: BrokerClientError) {
        let interactionID: String? = state.withLock { state in
            guard state.ending == nil, !state.isDecided else { return nil }
            state.ending = error
            return state.interactionID
        }
        decide(.failure(error))
        if let interactionID { cancelAtBroker(interactionID) }
    }

    private func cancelAtBroker(_ interactionID: String) {
        Task {
            // Nobody is left to be told; a sign-in that cannot be cancelled ends by its timeout.
            _ = try? await connection.call(CancelInteraction.self, .init(interactionId: interactionID))
        }
    }

    private func decide(_ outcome: Outcome) {
        let caller = state.withLock { state in
            // Before the caller waits (its task was cancelled first) `ending` tells it.
            defer { state.caller = nil }
            if state.caller != nil { state.isDecided = true }
            return state.caller
        }
        caller?.resume(returning: outcome)
    }
}

extension SignInPage {
    fileprivate init(_ opening: InteractionOpen.Params) {
        self.init(
            url: opening.url, redirectUri: opening.redirectUri, expiresOn: opening.expiresOn,
            interactionId: opening.interactionId, correlationId: opening.correlationId)
    }
}
