import BrokerRPC
import BrokerValues

extension PublicClientApplication {
    /// The events of the app's group from now on.
    ///
    /// ```swift
    /// for try await event in try await application.events(of: [.accounts]) { … }
    /// ```
    ///
    /// The subscription uses a connection of its own, which ends with the loop. If the broker goes away, the loop ends with
    /// ``BrokerClientError/Code/connectionLost``. Events in the meantime are unknown, so subscribe again, and then list the
    /// accounts.
    ///
    /// - Parameter topics: the topics to subscribe to.
    /// - Returns: the events in their order, after the broker has accepted the subscription. The newest 1000 are kept for a
    ///   slow reader.
    /// - Throws: ``BrokerClientError/Code/throttled`` if this program has too many subscriptions; the errors of any call.
    public func events(
        of topics: Set<BrokerEventTopic> = Set(BrokerEventTopic.allCases)
    ) async throws(BrokerClientError) -> AsyncThrowingStream<BrokerEvent, any Error> {
        try await EventFeed.open(
            Subscribe.Params(topics.map(EventTopic.init), of: configuration.app),
            at: .resolve(path: configuration.socketPath)
        ) { BrokerEvent($0) }
    }
}
