import BrokerModel
import CBrokerLinux
import Logging
import NIOCore
import NIOPosix

/// Accepts connections on a Unix stream socket and hands their lines to a ``LineService``.
///
/// Everything happens on one event loop, the one handed in: state that belongs to it needs no lock.
package final class LineListener: Sendable {
    package let eventLoop: any EventLoop
    private let channel: any Channel
    private let socket: ListeningSocket
    private let table: NIOLoopBound<LineTable>
    /// Which connections of the table are its own.
    private let number: UInt64
    private let count: LineTable.Count
    private let limits: LineLimits
    private let logger: Logger

    /// - Parameters:
    ///   - socket: from ``ListeningSocket/bind(_:)`` or ``ListeningSocket/inherited(_:)``; the listener owns it from here on.
    ///   - eventLoop: of a `MultiThreadedEventLoopGroup`; one thread is enough for all connections.
    ///   - service: decides who may speak, and makes the handlers.
    ///   - limits: what a peer can make this layer hold.
    ///   - logger: for refusals and connections cut off.
    /// - Returns: the listener, which accepts by now.
    /// - Throws: ``SocketError``.
    package static func start(
        _ socket: ListeningSocket, on eventLoop: any EventLoop, service: any LineService,
        limits: LineLimits = LineLimits(), logger: Logger
    ) async throws(SocketError) -> LineListener {
        try await listen(on: socket, of: eventLoop, beside: nil, service: service, limits: limits, logger: logger)
    }

    /// Accepts on another socket, too. The limits hold for the connections of both together; each is shut down by itself.
    package func startAnother(
        _ socket: ListeningSocket, service: any LineService
    ) async throws(SocketError) -> LineListener {
        try await Self.listen(
            on: socket, of: eventLoop, beside: table, service: service, limits: limits, logger: logger)
    }

    private static func listen(
        on socket: ListeningSocket, of eventLoop: any EventLoop, beside other: NIOLoopBound<LineTable>?,
        service: any LineService, limits: LineLimits, logger: Logger
    ) async throws(SocketError) -> LineListener {
        do {
            let (table, number, count) = try await eventLoop.submit {
                let table = other ?? NIOLoopBound(LineTable(limits: limits), eventLoop: eventLoop)
                return (table, table.value.makeID(), table.value.count)
            }.get()
            let channel = try await ServerBootstrap(group: eventLoop)
                .serverChannelInitializer { server in
                    // Without descriptors left, accept fails at once again and again; this waits in between.
                    server.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 256 << 10))
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        try accept(
                            child, of: number, service: service, limits: limits, table: table.value, logger: logger)
                    }
                }
                .withBoundSocket(socket.descriptor).get()
            return LineListener(
                eventLoop: eventLoop, channel: channel, socket: socket, table: table, number: number, count: count,
                limits: limits, logger: logger)
        } catch {
            // Whether NIO has closed the descriptor is not told; closing it twice could hit a stranger.
            socket.removePath()
            throw .system(doing: "listen on the broker's socket", code: (error as? IOError)?.errnoCode ?? 0)
        }
    }

    private init(
        eventLoop: any EventLoop, channel: any Channel, socket: ListeningSocket, table: NIOLoopBound<LineTable>,
        number: UInt64, count: LineTable.Count, limits: LineLimits, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.channel = channel
        self.socket = socket
        self.table = table
        self.number = number
        self.count = count
        self.limits = limits
        self.logger = logger
    }

    /// Open connections, refused ones not counted, of all that share its limits. May be read from anywhere.
    package var connectionCount: Int { count.value }

    /// Returns when the event loop has turned, and a task that it started has run, as a request's would: for a watchdog, which
    /// sets its own deadline.
    ///
    /// The pool has threads of its own for each priority. So the task is started here: one of the caller's could get through
    /// while the requests' tasks wait.
    package func heartbeat() async throws {
        let answered = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { Task { answered.succeed() } }
        try await answered.futureResult.get()
    }

    /// Takes no new connection, tells every handler to drain and waits until the last connection is closed; what is
    /// still open after `deadline` is cut off. The socket's path is removed first, if it is still the broker's own.
    ///
    /// - Returns: how many connections had to be cut off.
    @discardableResult
    package func shutDown(within deadline: Duration) async -> Int {
        socket.removePath()
        // Closing fails only when it is closed already.
        try? await channel.close().get()
        let drained = eventLoop.makePromise(of: Void.self)
        let (table, number) = (table, number)
        let timer = eventLoop.scheduleTask(in: .init(deadline)) { [logger] in
            let rest = table.value.all(of: number)
            if !rest.isEmpty {
                logger.notice("connections cut off at shutdown", metadata: ["count": "\(rest.count)"])
            }
            for connection in rest { connection.cutOff() }
            return rest.count
        }
        eventLoop.execute {
            for connection in table.value.all(of: number) { connection.drain() }
            table.value.notify(drained, whenEmpty: number)
        }
        try? await drained.futureResult.get()
        timer.cancel()
        // A timer that was cancelled in time cut nobody off.
        return (try? await timer.futureResult.get()) ?? 0
    }

    /// On the event loop, before the connection's first byte is read.
    private static func accept(
        _ child: any Channel, of listener: UInt64, service: any LineService, limits: LineLimits, table: LineTable,
        logger: Logger
    ) throws {
        let pipeline = child.pipeline.syncOperations
        let transport = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { descriptor in
            try PeerCredentials(ofSocket: descriptor)
        }
        guard let peer = transport else { throw SocketError.system(doing: "reach the connection's socket", code: 0) }
        let about: Logger.Metadata = ["pid": "\(peer.pid)", "uid": "\(peer.uid)"]
        let channel = LineChannel(
            service: service, limits: limits, table: table, listener: listener, logger: logger)
        let connection = LineConnection(
            id: table.makeID(), peer: peer, channel: channel, table: table.count, eventLoop: child.eventLoop)
        switch service.admit(connection) {
        case .serve(let handler, let owner):
            if let refusal = table.makeRoom(for: owner) {
                logger.notice("connection refused: the limit is reached", metadata: about)
                handler.closed(connection)
                let line = service.refusalLine(refusal)
                return try pipeline.addHandler(RefusalHandler(saying: line, limits: limits, table: table))
            }
            try pipeline.addHandler(channel)
            channel.serve(handler, on: connection, owner: owner)
        case .refuse(let line):
            logger.notice("connection refused by policy", metadata: about)
            try pipeline.addHandler(RefusalHandler(saying: line, limits: limits, table: table))
        }
    }
}
