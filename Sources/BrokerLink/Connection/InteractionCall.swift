import BrokerRPC
import BrokerValues
import Synchronization

/// One request that waits for a person, on the client's side: the request, its page or code, and its cancellation.
///
/// The first event decides the caller's result: the broker's answer, a failure to show the page, or the
/// cancellation of the caller's task. The latter two also end the interaction at the broker, at once or as soon as its
/// id is known; the caller does not wait for that.
final class InteractionCall: Sendable {
    typealias Outcome = Result<JSONNode, BrokerClientError>

    private struct State {
        var caller: CheckedContinuation<Outcome, Never>?
        var ending: BrokerClientError?
        var interactionID: String?
        var isDecided = false
    }

    private let connection: BrokerConnection
    private let request: Request
    private let correlationID: String
    private let show: @Sendable (InteractionNotice) async throws -> Void
    private let joined: @Sendable () -> Void
    private let state = Mutex(State())

    private init(
        _ connection: BrokerConnection, _ correlationID: String, _ request: Request,
        _ show: @escaping @Sendable (InteractionNotice) async throws -> Void, _ joined: @escaping @Sendable () -> Void
    ) {
        self.connection = connection
        self.request = request
        self.correlationID = correlationID
        self.show = show
        self.joined = joined
    }

    /// - Parameters:
    ///   - method: the method.
    ///   - params: get a correlation id if they have none; it identifies the request's notifications.
    ///   - joined: called on the connection's thread if another request has shown the page.
    ///   - show: shows the page or code and returns. If it throws, the interaction is cancelled.
    /// - Returns: the result, as the broker wrote it.
    static func run<Method: BrokerMethod>(
        _ method: Method.Type, _ params: Method.Params, on connection: BrokerConnection,
        joined: @escaping @Sendable () -> Void = {},
        show: @escaping @Sendable (InteractionNotice) async throws -> Void
    ) async throws(BrokerClientError) -> JSONNode where Method.Params: CorrelatedParams {
        var params = params
        let correlationID = params.correlationId ?? CorrelationID.make()
        params.correlationId = correlationID
        let request = Request(method, params)
        return try await InteractionCall(connection, correlationID, request, show, joined).outcome().get()
    }

    private func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state in
                    if state.ending == nil { state.caller = continuation }
                    return state.ending
                }
                if let early { return continuation.resume(returning: .failure(early)) }
                Task { await ask() }
            }
        } onCancel: {
            end(.taskCancelled)
        }
    }

    private func ask() async {
        let observer = InteractionObserver(correlationID: correlationID) { self.noticed($0) }
        do throws(BrokerClientError) {
            decide(.success(try await connection.answer(to: request, interaction: observer)))
        } catch {
            decide(.failure(error))
        }
    }

    /// Called on the connection's thread.
    private func noticed(_ notice: InteractionNotice) {
        guard let interactionID = notice.interactionID else { return joined() }
        let (isFirst, isEnded) = state.withLock { state in
            defer { state.interactionID = state.interactionID ?? interactionID }
            return (state.interactionID == nil, state.ending != nil)
        }
        guard isFirst else { return }
        guard !isEnded else { return cancelAtBroker(interactionID) }
        Task {
            do {
                try await show(notice)
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
            // The caller is gone; an interaction that cannot be cancelled ends by its timeout.
            _ = try? await connection.call(CancelInteraction.self, .init(interactionId: interactionID))
        }
    }

    private func decide(_ outcome: Outcome) {
        let caller = state.withLock { state in
            // If the task was cancelled before the caller waits, `ending` holds the result.
            defer { state.caller = nil }
            if state.caller != nil { state.isDecided = true }
            return state.caller
        }
        caller?.resume(returning: outcome)
    }
}
