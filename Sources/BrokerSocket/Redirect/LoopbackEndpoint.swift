import BrokerModel
import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// The open ports of one waiting sign-in.
final class LoopbackEndpoint: RedirectEndpoint {
    private struct State {
        var channels: [any Channel] = []
        var port: UInt16?
    }

    private let address: RedirectAddress
    private let eventLoop: any EventLoop
    private let limits: RedirectLimits
    private let answer: RedirectHandler.Answer
    private let logger: Logger
    private let visitors: NIOLoopBoundBox<RedirectVisitors?>
    private let state: Mutex<State>

    init(
        address: RedirectAddress, on eventLoop: any EventLoop, limits: RedirectLimits,
        answer: @escaping RedirectHandler.Answer, logger: Logger
    ) {
        self.address = address
        self.eventLoop = eventLoop
        self.limits = limits
        self.answer = answer
        self.logger = logger
        visitors = NIOLoopBoundBox.makeEmptyBox(valueType: RedirectVisitors.self, eventLoop: eventLoop)
        state = Mutex(State(port: address.port))
    }

    /// 0 until the first port is bound, when the kernel chooses.
    var port: UInt16 { state.withLock { $0.port ?? 0 } }

    var redirectURI: String { address.uri(port: port) }

    /// Listens on one more address, at the port of the first.
    ///
    /// - Returns: 0, or an errno value.
    func bind(_ ip: String) async -> Int32 {
        do {
            let place = try SocketAddress(ipAddress: ip, port: Int(port))
            let channel = try await ServerBootstrap(group: eventLoop)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 64)
                .serverChannelInitializer { server in
                    // Without descriptors left, accept fails at once again and again; this waits in between.
                    server.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture { try self.greet(child) }
                }
                .bind(to: place).get()
            state.withLock { state in
                state.channels.append(channel)
                state.port = channel.localAddress?.port.flatMap { UInt16(exactly: $0) }
            }
            return 0
        } catch {
            return (error as? IOError)?.errnoCode ?? EINVAL
        }
    }

    func close() async {
        let channels = state.withLock { state in
            defer { state.channels = [] }
            return state.channels
        }
        for channel in channels {
            // Closing fails only when it is closed already.
            try? await channel.close().get()
        }
        let visitors = visitors
        eventLoop.execute { visitors.value?.sendIdleAway() }
        if !channels.isEmpty { logger.debug("redirect port closed", metadata: ["port": "\(port)"]) }
    }

    private func greet(_ child: any Channel) throws {
        let known = visitors.value ?? RedirectVisitors(limit: limits.connections)
        visitors.value = known
        let handler = RedirectHandler(
            path: address.path, port: port, limits: limits, visitors: known, answer: answer)
        let pipeline = child.pipeline.syncOperations
        try pipeline.addHandler(RequestSizeLimit(bytes: limits.request))
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandler(handler)
        guard known.enter(handler) else { return handler.cutOff() }
    }
}
