import BrokerRPC
import BrokerValues
import Synchronization

/// One request that waits for a person, on the client's side: the request, and its page or code.
///
/// It has a connection of its own, so that each notification there is about this request. The connection's end leaves
/// the interaction, which the broker ends when no other request waits for it (decision 20).
final class InteractionCall: Sendable {
    private struct State {
        var isOver = false
        /// The page or code could not be shown.
        var failure: BrokerClientError?
    }

    private let connection: BrokerConnection
    private let show: @Sendable (InteractionNotice) async throws -> Void
    private let joined: @Sendable () -> Void
    private let state = Mutex(State())

    private init(
        _ connection: BrokerConnection, _ show: @escaping @Sendable (InteractionNotice) async throws -> Void,
        _ joined: @escaping @Sendable () -> Void
    ) {
        self.connection = connection
        self.show = show
        self.joined = joined
    }

    /// - Parameters:
    ///   - joined: called on the connection's thread if another request has shown the page.
    ///   - show: shows the page or code and returns. If it throws, the interaction is cancelled.
    /// - Returns: the result, as the broker wrote it.
    static func run<Method: BrokerMethod>(
        _ method: Method.Type, _ params: Method.Params, at location: SocketLocation,
        joined: @escaping @Sendable () -> Void = {},
        show: @escaping @Sendable (InteractionNotice) async throws -> Void
    ) async throws(BrokerClientError) -> JSONNode {
        let call = InteractionCall(BrokerConnection(location: location), show, joined)
        return try await call.answer(to: Request(method, params))
    }

    private func answer(to request: Request) async throws(BrokerClientError) -> JSONNode {
        let answer: Result<JSONNode, BrokerClientError>
        do throws(BrokerClientError) {
            answer = .success(try await connection.answer(to: request, observer: { self.noticed($0) }))
        } catch {
            answer = .failure(error)
        }
        connection.close()
        let failure = state.withLock { state in
            state.isOver = true
            return state.failure
        }
        // The page may have opened all the same.
        if case .failure = answer, let failure { throw failure }
        return try answer.get()
    }

    /// Called on the connection's thread.
    private func noticed(_ notification: Link.Notification) {
        guard let notice = InteractionNotice(notification) else { return }
        guard let interactionID = notice.interactionID else { return joined() }
        Task {
            do {
                try await show(notice)
            } catch {
                let reason = error as? BrokerClientError
                await cancel(
                    interactionID,
                    reason
                        ?? BrokerClientError(.browserNotAvailable, "The sign-in page could not be shown.", cause: error)
                )
            }
        }
    }

    /// Other requests may have joined. They would wait in vain for a person who sees no page.
    private func cancel(_ interactionID: String, _ failure: BrokerClientError) async {
        let isOver = state.withLock { state in
            if !state.isOver { state.failure = failure }
            return state.isOver
        }
        guard !isOver else { return }
        _ = try? await connection.call(CancelInteraction.self, .init(interactionId: interactionID))
        connection.close()
    }
}
