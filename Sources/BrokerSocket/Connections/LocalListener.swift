import BrokerModel
import CBrokerLinux
import Glibc
import Logging

/// Accepts connections on a Unix stream socket and hands their lines to a ``ConnectionService``.
///
/// Connections belong to the reactor's thread, and need no lock.
package final class LocalListener: Sendable {
    private let reactor: Reactor
    private let socket: ListeningSocket
    private let acceptor: ReactorBound<ConnectionAcceptor>
    private let reception: ConnectionReception

    /// - Parameters:
    ///   - socket: from ``ListeningSocket/bind(_:)`` or ``ListeningSocket/inherited(_:)``; the listener owns it from here on.
    ///   - reactor: accepts and serves the connections.
    ///   - service: decides which peers are served, and makes the handlers.
    ///   - limits: what a peer can make this layer hold.
    ///   - logger: for refusals and connections cut off.
    /// - Returns: the listener, already accepting.
    /// - Throws: ``SocketError``.
    package static func start(
        _ socket: ListeningSocket, on reactor: Reactor, service: any ConnectionService,
        limits: ConnectionLimits = ConnectionLimits(), logger: Logger
    ) async throws(SocketError) -> LocalListener {
        let looks: PeerInspectionQueue
        do throws(SocketError) {
            looks = try PeerInspectionQueue(maximumWaiting: limits.arrivals)
        } catch {
            socket.removePath()
            close(socket.descriptor)
            throw error
        }
        return try await start(
            socket, on: reactor,
            ConnectionReception(
                table: ConnectionTable(limits: limits), service: service, limits: limits, looks: looks,
                notices: ConnectionNotices(logger)))
    }

    /// Accepts on another socket, too. The limits apply to the connections of both together; each is shut down separately.
    package func startAnother(
        _ socket: ListeningSocket, service: any ConnectionService
    ) async throws(SocketError) -> LocalListener {
        try await Self.start(socket, on: reactor, reception.another(for: service))
    }

    private static func start(
        _ socket: ListeningSocket, on reactor: Reactor, _ reception: ConnectionReception
    ) async throws(SocketError) -> LocalListener {
        // Includes descriptors closed since the process began.
        let kept = broker_keep_low_descriptors()
        if kept != 0 { reception.logger.warning("low descriptors are not kept", metadata: ["errno": "\(kept)"]) }
        let started: (acceptor: ReactorBound<ConnectionAcceptor>, code: Int32) = await reactor.perform {
            let acceptor = ConnectionAcceptor(socket, on: reactor, reception: reception)
            return (ReactorBound(acceptor, of: reactor), acceptor.begin())
        }
        guard started.code == 0 else {
            socket.removePath()
            throw .system(doing: "listen on the broker's socket", code: started.code)
        }
        return LocalListener(reactor, socket, started.acceptor, reception)
    }

    private init(
        _ reactor: Reactor, _ socket: ListeningSocket, _ acceptor: ReactorBound<ConnectionAcceptor>,
        _ reception: ConnectionReception
    ) {
        self.reactor = reactor
        self.socket = socket
        self.acceptor = acceptor
        self.reception = reception
    }

    /// Open connections, refused ones not counted, of all listeners that share its limits. May be read from any thread.
    package var connectionCount: Int { reception.table.count }

    /// Returns when the reactor has turned, and a task that it started has run, as a request's would: for a watchdog, which sets
    /// its own deadline.
    ///
    /// The pool has separate threads for each priority. So the task is started here: one of the caller's could get through while
    /// the requests' tasks wait.
    package func heartbeat() async throws {
        await withCheckedContinuation { answered in
            // A reactor that has ended had nothing left to do.
            if !reactor.execute({ Task { answered.resume() } }) { answered.resume() }
        }
        try Task.checkCancellation()
    }

    /// Accepts no new connection, tells every handler to drain and waits until the last connection is closed; connections still
    /// open after `deadline` are cut off. The socket's path is removed first, if it is still the broker's own.
    ///
    /// - Returns: how many connections had to be cut off.
    @discardableResult
    package func shutDown(within deadline: Duration) async -> Int {
        socket.removePath()
        let connections = await reactor.perform { [acceptor] in acceptor.value.end() }
        for connection in connections { connection.drain() }
        let reception = reception
        let cutOff = Task {
            try await Task.sleep(for: deadline)
            return reception.cutOffAll()
        }
        await withCheckedContinuation { empty in
            reception.table.whenEmpty(reception.listener) { empty.resume() }
        }
        cutOff.cancel()
        return (try? await cutOff.value) ?? 0
    }
}

extension ConnectionReception {
    fileprivate func cutOffAll() -> Int {
        let rest = table.all(of: listener)
        if !rest.isEmpty { logger.notice("connections cut off at shutdown", metadata: ["count": "\(rest.count)"]) }
        for connection in rest { connection.cutOff() }
        return rest.count
    }
}
