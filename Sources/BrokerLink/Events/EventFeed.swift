import BrokerRPC
import Synchronization
import BrokerValues

/// Something that happened, as the broker told it.
package struct EventNotice: Sendable {
    /// `event.account` and its like.
    package let name: String
    package let params: JSONNode

    package init(name: String, params: JSONNode) {
        self.name = name
        self.params = params
    }
}

/// A connection for nothing but events, which ends with whoever reads them.
package enum EventFeed {
    /// - Parameters:
    ///   - params: what to be told of.
    ///   - read: makes an event of what the broker says; nil for what is passed over.
    /// - Returns: the events in their order, once the broker has taken the subscription. The newest 1000 are kept for a slow
    ///   reader. They end with ``BrokerClientError/Code/connectionLost`` when the broker goes away.
    package static func open<Event: Sendable>(
        _ params: Subscribe.Params, at location: SocketLocation,
        _ read: @escaping @Sendable (Link.Notification) -> Event?
    ) async throws(BrokerClientError) -> AsyncThrowingStream<Event, any Error> {
        try await open(Subscribe.self, params, at: location, keeping: 1000) { _ in
            nil
        } reading: {
            read($0).map(Reading.event) ?? .nothing
        }
    }

    /// What a notification is to who reads.
    package enum Reading<Event: Sendable>: Sendable {
        case event(Event)
        /// The last one, and why.
        case end(BrokerClientError)
        case nothing
    }

    /// As above, of another method that events follow.
    ///
    /// - Parameters:
    ///   - most: so many of the newest are kept for a slow reader.
    ///   - begin: makes the first event of the answer; nil for none.
    package static func open<M: BrokerMethod, Event: Sendable>(
        _: M.Type, _ params: M.Params, at location: SocketLocation, keeping most: Int,
        begin: (JSONNode) throws(BrokerClientError) -> Event?,
        reading read: @escaping @Sendable (Link.Notification) -> Reading<Event>
    ) async throws(BrokerClientError) -> AsyncThrowingStream<Event, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(most))
        let order = AnswerFirst()
        let link = try follow(location, continuation, order, read)
        continuation.onTermination = { _ in link.close() }
        switch await link.exchange(at: location, Liveness(), line: { M.requestLine(id: $0, params) }) {
        case .answer(.result(let node)):
            let first = try begin(node)
            order.begin { if let first { continuation.yield(first) } }
            return stream
        case .answer(.error(let error)), .dismissed(let error): throw BrokerClientError(error)
        case .tooLong: throw .tooLong
        case .garbled: throw .notUnderstood(cause: nil)
        case .abandoned: throw .taskCancelled
        case .tooLate: throw .noAnswer(at: location)
        case .lost: throw .lost
        }
    }

    private static func follow<Event: Sendable>(
        _ location: SocketLocation, _ continuation: AsyncThrowingStream<Event, any Error>.Continuation,
        _ order: AnswerFirst,
        _ read: @escaping @Sendable (Link.Notification) -> Reading<Event>
    ) throws(BrokerClientError) -> Link {
        do {
            return try Link.open(location) { event in
                order.take {
                    switch event {
                    case .happened(let notification):
                        switch read(notification) {
                        case .event(let event): continuation.yield(event)
                        case .end(let error): continuation.finish(throwing: error)
                        case .nothing: break
                        }
                    case .connectionEnded: continuation.finish(throwing: BrokerClientError.lost)
                    }
                }
            }
        } catch {
            throw BrokerClientError(error, location)
        }
    }
}

/// Holds what comes on a connection before its answer was read: the answer is first.
private final class AnswerFirst: Sendable {
    /// Nil once the answer was read.
    private let held = Mutex<[@Sendable () -> Void]?>([])

    func take(_ act: @escaping @Sendable () -> Void) {
        let isBegun = held.withLock { held in
            held?.append(act)
            return held == nil
        }
        if isBegun { act() }
    }

    /// What came meanwhile follows; it may end the connection, and so come back here.
    func begin(_ act: () -> Void) {
        act()
        while let next = held.withLock({ held -> [@Sendable () -> Void]? in
            let next = held?.isEmpty == false ? held : nil
            held = next == nil ? nil : []
            return next
        }) {
            for act in next { act() }
        }
    }
}

extension SocketLocation {
    /// What happens at the broker there, for the person's own tools; see ``EventFeed/open(_:at:_:)``.
    package func events(
        _ params: Subscribe.Params
    ) async throws(BrokerClientError) -> AsyncThrowingStream<EventNotice, any Error> {
        try await EventFeed.open(params, at: self) { EventNotice(name: $0.method, params: $0.params) }
    }
}
