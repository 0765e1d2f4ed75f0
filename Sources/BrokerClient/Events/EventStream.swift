import BrokerRPC
import BrokerValues

extension PublicClientApplication {
    /// What happens in the app's group from now on.
    ///
    /// ```swift
    /// for try await event in try await application.events(of: [.accounts]) { … }
    /// ```
    ///
    /// It has a connection of its own, which ends with the loop. When the broker goes away the loop ends with
    /// ``BrokerClientError/Code/connectionLost``: what happened meanwhile is not known, so ask for the accounts anew and
    /// begin again.
    ///
    /// - Parameter topics: what to be told of.
    /// - Returns: the events in their order, once the broker has taken the subscription. The newest 1000 are kept for a
    ///   slow reader.
    /// - Throws: what any call may fail with.
    public func events(
        of topics: Set<BrokerEventTopic> = Set(BrokerEventTopic.allCases)
    ) async throws(BrokerClientError) -> AsyncThrowingStream<BrokerEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: BrokerEvent.self, bufferingPolicy: .bufferingNewest(1000))
        let params = Subscribe.Params(topics.map(EventTopic.init), of: configuration.app)
        let link = try Self.follow(.resolve(path: configuration.socketPath), continuation)
        continuation.onTermination = { _ in link.close() }
        switch await link.exchange(line: { Subscribe.requestLine(id: $0, params) }) {
        case .answer(.success): return stream
        case .answer(.failure(let error)), .dismissed(let error): throw BrokerClientError(error)
        case .tooLong: throw .tooLong
        case .garbled: throw .notUnderstood(cause: nil)
        case .abandoned: throw .taskCancelled
        case .tooLate: throw .noAnswer
        case .lost: throw .lost
        }
    }

    private static func follow(
        _ location: SocketLocation, _ continuation: AsyncThrowingStream<BrokerEvent, any Error>.Continuation
    ) throws(BrokerClientError) -> Link {
        do {
            return try Link.open(location) { event in
                switch event {
                case .happened(let notification):
                    if let event = BrokerEvent(notification) { continuation.yield(event) }
                case .connectionEnded: continuation.finish(throwing: BrokerClientError.lost)
                }
            }
        } catch {
            throw BrokerClientError(error, location)
        }
    }
}
