import BrokerRPC
import BrokerValues

extension PublicClientApplication {
    /// The events of the app's group from now on.
    ///
    /// ```swift
    /// for try await event in try await application.events(of: [.accounts]) { … }
    /// ```
    ///
    /// It uses a separate connection, which ends with the loop. If the broker goes away, the loop ends with
    /// ``BrokerClientError/Code/connectionLost``: events in the meantime are unknown, so list the accounts anew and
    /// subscribe again.
    ///
    /// - Parameter topics: the topics to subscribe to.
    /// - Returns: the events in their order, after the broker has accepted the subscription. The newest 1000 are kept for a
    ///   slow reader.
    /// - Throws: the errors of any call.
    public func events(
        of topics: Set<BrokerEventTopic> = Set(BrokerEventTopic.allCases)
    ) async throws(BrokerClientError) -> AsyncThrowingStream<BrokerEvent, any Error> {
        try await EventFeed.open(
            Subscribe.Params(topics.map(EventTopic.init), of: configuration.app),
            at: .resolve(path: configuration.socketPath)
        ) { BrokerEvent($0) }
    }
}
