import BrokerRPC
import Synchronization
import BrokerValues

/// A connection for events only, which ends with its reader.
package enum EventFeed {
    /// - Parameter read: makes an event from a notification; `nil` to ignore it.
    /// - Returns: the events in their order, after the broker has accepted the subscription. The newest 1000 are kept for a slow
    ///   reader. They end with ``BrokerClientError/Code/connectionLost`` if the broker goes away.
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

    /// How the reader interprets a notification.
    package enum Reading<Event: Sendable>: Sendable {
        case event(Event)
        /// The last one, and why.
        case end(BrokerClientError)
        case nothing
    }

    /// The same for another method that is followed by events.
    ///
    /// - Parameters:
    ///   - most: the number of newest events that are kept for a slow reader.
    ///   - begin: makes the first event from the answer; `nil` for none.
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

/// Holds messages that arrive on a connection before its answer was read: the answer is first.
private final class AnswerFirst: Sendable {
    /// `nil` after the answer was read.
    private let held = Mutex<[@Sendable () -> Void]?>([])

    func take(_ act: @escaping @Sendable () -> Void) {
        let isBegun = held.withLock { held in
            held?.append(act)
            return held == nil
        }
        if isBegun { act() }
    }

    /// Held messages follow; they may end the connection, and so reenter this type.
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
    /// The broker's events, for the person's own tools; see ``EventFeed/open(_:at:_:)``.
    package func events(
        _ params: Subscribe.Params
    ) async throws(BrokerClientError) -> AsyncThrowingStream<Link.Notification, any Error> {
        try await EventFeed.open(params, at: self) { $0 }
    }
}
