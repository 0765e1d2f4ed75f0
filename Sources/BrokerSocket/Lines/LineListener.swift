import BrokerModel
import Logging

/// Accepts connections on a Unix stream socket and hands their lines to a ``LineService``.
///
/// Everything happens on one reactor's thread: state that belongs to it needs no lock.
package final class LineListener: Sendable {
    package let reactor: Reactor
    private let socket: ListeningSocket
    private let acceptor: ReactorBound<LineAcceptor>
    private let count: LineTable.Count
    private let logger: Logger

    /// - Parameters:
    ///   - socket: from ``ListeningSocket/bind(_:)`` or ``ListeningSocket/inherited(_:)``; the listener owns it from here on.
    ///   - reactor: one is enough for all connections.
    ///   - service: decides who may speak, and makes the handlers.
    ///   - limits: what a peer can make this layer hold.
    ///   - logger: for refusals and connections cut off.
    /// - Returns: the listener, which accepts by now.
    /// - Throws: ``SocketError``.
    package static func start(
        _ socket: ListeningSocket, on reactor: Reactor, service: any LineService,
        limits: LineLimits = LineLimits(), logger: Logger
    ) async throws(SocketError) -> LineListener {
        try await start(socket, on: reactor) {
            LineAcceptor(
                socket, on: reactor, table: LineTable(limits: limits), service: service, limits: limits, logger: logger)
        }
    }

    /// Accepts on another socket, too. The limits hold for the connections of both together; each is shut down by itself.
    ///
    /// - Parameter whenCutOff: called on the reactor's thread when the socket accepts nobody any more, and was not shut down
    ///   here.
    package func startAnother(
        _ socket: ListeningSocket, service: any LineService, whenCutOff: @escaping @Sendable () -> Void = {}
    ) async throws(SocketError) -> LineListener {
        let first = acceptor
        return try await Self.start(socket, on: reactor) {
            let acceptor = first.value.another(on: socket, service: service)
            acceptor.whenCutOff = whenCutOff
            return acceptor
        }
    }

    private static func start(
        _ socket: ListeningSocket, on reactor: Reactor, _ make: @escaping @Sendable () -> LineAcceptor
    ) async throws(SocketError) -> LineListener {
        let started: (ReactorBound<LineAcceptor>, LineTable.Count, Logger, code: Int32) = await reactor.perform {
            let acceptor = make()
            return (ReactorBound(acceptor, of: reactor), acceptor.table.count, acceptor.logger, acceptor.begin())
        }
        guard started.code == 0 else {
            socket.removePath()
            throw .system(doing: "listen on the broker's socket", code: started.code)
        }
        return LineListener(reactor, socket, started.0, count: started.1, logger: started.2)
    }

    private init(
        _ reactor: Reactor, _ socket: ListeningSocket, _ acceptor: ReactorBound<LineAcceptor>, count: LineTable.Count,
        logger: Logger
    ) {
        self.reactor = reactor
        self.socket = socket
        self.acceptor = acceptor
        self.count = count
        self.logger = logger
    }

    package func accepts(on other: ListeningSocket) -> Bool { socket.isSame(as: other) }

    /// Open connections, refused ones not counted, of all that share its limits. May be read from anywhere.
    package var connectionCount: Int { count.value }

    /// Returns when the reactor has turned, and a task that it started has run, as a request's would: for a watchdog, which
    /// sets its own deadline.
    ///
    /// The pool has threads of its own for each priority. So the task is started here: one of the caller's could get through
    /// while the requests' tasks wait.
    package func heartbeat() async throws {
        await withCheckedContinuation { answered in
            reactor.execute { Task { answered.resume() } }
        }
        try Task.checkCancellation()
    }

    /// Takes no new connection, tells every handler to drain and waits until the last connection is closed; what is
    /// still open after `deadline` is cut off. The socket's path is removed first, if it is still the broker's own.
    ///
    /// - Returns: how many connections had to be cut off.
    @discardableResult
    package func shutDown(within deadline: Duration) async -> Int {
        socket.removePath()
        let (acceptor, reactor, logger) = (acceptor, reactor, logger)
        return await withCheckedContinuation { done in
            reactor.execute {
                let acceptor = acceptor.value
                acceptor.end()
                var cutOff = 0
                let timer = reactor.schedule(after: deadline) {
                    let rest = acceptor.connections
                    cutOff = rest.count
                    if cutOff > 0 {
                        logger.notice("connections cut off at shutdown", metadata: ["count": "\(cutOff)"])
                    }
                    for connection in rest { connection.cutOff() }
                }
                for connection in acceptor.connections { connection.drain() }
                acceptor.table.whenEmpty(acceptor.number) {
                    reactor.cancel(timer)
                    done.resume(returning: cutOff)
                }
            }
        }
    }
}
