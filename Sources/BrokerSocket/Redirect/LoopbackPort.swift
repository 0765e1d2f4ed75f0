import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// One listening loopback address, for all sign-ins whose redirects arrive there.
final class LoopbackPort: Sendable {
    /// The address that a port is bound to.
    struct Place: Hashable, Sendable {
        var ip: String
        /// 0 leaves the choice to the kernel.
        var port: UInt16
    }

    let place: Place
    let routes = RedirectRoutes()
    private let eventLoop: any EventLoop
    private let limits: RedirectLimits
    private let visitors: NIOLoopBoundBox<RedirectVisitors?>
    private let channel = Mutex<(any Channel)?>(nil)

    private init(
        at place: Place, on eventLoop: any EventLoop, limits: RedirectLimits,
        visitors: NIOLoopBoundBox<RedirectVisitors?>
    ) {
        self.place = place
        self.eventLoop = eventLoop
        self.limits = limits
        self.visitors = visitors
    }

    enum Outcome: Sendable {
        case bound(LoopbackPort)
        /// An errno value.
        case failed(Int32)
    }

    /// - Parameter visitors: those of all ports of the event loop.
    static func bind(
        at place: Place, on eventLoop: any EventLoop, limits: RedirectLimits,
        visitors: NIOLoopBoundBox<RedirectVisitors?>
    ) async -> Outcome {
        let port = LoopbackPort(at: place, on: eventLoop, limits: limits, visitors: visitors)
        do {
            try await port.listen()
            return .bound(port)
        } catch {
            return .failed((error as? IOError)?.errnoCode ?? EINVAL)
        }
    }

    /// The port number from the kernel; 0 after closing.
    var number: UInt16 {
        channel.withLock { $0?.localAddress?.port.flatMap { UInt16(exactly: $0) } } ?? 0
    }

    private func listen() async throws {
        let address = try SocketAddress(ipAddress: place.ip, port: Int(place.port))
        let listening = try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelInitializer { server in
                // Without free descriptors, accept fails at once again and again; this waits in between.
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { child in
                child.eventLoop.makeCompletedFuture { try self.greet(child) }
            }
            .bind(to: address).get()
        channel.withLock { $0 = listening }
    }

    /// Stops listening. Requests already received still get their page.
    func close() async {
        let listening = channel.withLock { channel in
            defer { channel = nil }
            return channel
        }
        // Closing fails only if it is closed already.
        try? await listening?.close().get()
        eventLoop.execute { self.visitors.value?.sendIdleAway(from: ObjectIdentifier(self)) }
    }

    private func greet(_ child: any Channel) throws {
        let known = visitors.value ?? RedirectVisitors(limits: limits)
        visitors.value = known
        let pipeline = child.pipeline.syncOperations
        let visitor = try pipeline.loopbackVisitor()
        let handler = RedirectHandler(
            routes: routes, port: place.port > 0 ? place.port : number, limits: limits, of: visitor)
        try pipeline.addHandler(RequestSizeLimit(bytes: limits.request))
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(handler)
        child.closeFuture.assumeIsolated().whenComplete { _ in known.leave(handler) }
        guard known.enter(handler, of: visitor, isExpected: routes.expects(visitor), at: ObjectIdentifier(self)) else {
            return handler.cutOff()
        }
    }
}
