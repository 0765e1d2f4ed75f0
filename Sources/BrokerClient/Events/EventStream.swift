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
        try await EventFeed.open(
            Subscribe.Params(topics.map(EventTopic.init), of: configuration.app),
            at: .resolve(path: configuration.socketPath)
        ) { BrokerEvent($0) }
    }
}
