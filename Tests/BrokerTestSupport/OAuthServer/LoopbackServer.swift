import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP/1.1 server on loopback whose answers are written by hand, so that they can be wrong in every way.
package final class LoopbackServer: Sendable {
    package typealias Script = @Sendable (ProviderRequest) async -> ProviderAnswer

    private struct State {
        var connections = 0
        var open: [ObjectIdentifier: any Channel] = [:]
    }
    private let listener: any Channel
    private let state: SharedState

    /// Collects the reports of the connections' handlers.
    private final class SharedState: Sendable {
        let value = Mutex(State())
    }

    private init(listener: any Channel, state: SharedState) {
        self.listener = listener
        self.state = state
    }

    /// A server that ends with the test.
    package static func start(
        in bed: TestBed, script: @escaping Script = { _ in .json(["ok": true]) }
    ) async throws -> LoopbackServer {
        let server = try await start(script: script)
        bed.atEnd { await server.stop() }
        return server
    }

    /// Listens on a free port of 127.0.0.1.
    package static func start(script: @escaping Script) async throws -> LoopbackServer {
        let state = SharedState()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let id = ObjectIdentifier(channel)
                    state.value.withLock {
                        $0.connections += 1
                        $0.open[id] = channel
                    }
                    channel.closeFuture.whenComplete { _ in state.value.withLock { $0.open[id] = nil } }
                    let sync = channel.pipeline.syncOperations
                    try sync.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try sync.addHandler(ConnectionHandler(script: script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return LoopbackServer(listener: listener, state: state)
    }

    package var port: Int { listener.localAddress?.port ?? 0 }
    package var url: String { "http://127.0.0.1:\(port)" }
    /// The number of connections since the start, which shows whether they are reused.
    package var connections: Int { state.value.withLock { $0.connections } }

    /// Closes every open connection; the server continues to listen.
    package func dropConnections() async {
        let open = state.value.withLock { Array($0.open.values) }
        for channel in open { try? await channel.close() }
    }

    /// Stops listening and closes every connection.
    package func stop() async {
        try? await listener.close()
        await dropConnections()
    }
}

/// One connection: reads a request, calls the script, writes its response.
private final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let script: LoopbackServer.Script
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(script: @escaping LoopbackServer.Script) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let buffer):
            body.append(contentsOf: buffer.readableBytesView)
        case .end:
            guard let head else { return }
            let request = ProviderRequest(head, body: body)
            let channel = context.channel
            let script = script
            Task {
                let answer = await script(request)
                try? await answer.write(to: channel)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension ProviderAnswer {
    fileprivate func write(to channel: any Channel) async throws {
        switch fault {
        case .none:
            try await channel.writeAndFlush(ByteBuffer(bytes: head + body))
        case .hang:
            return
        case .close:
            try await channel.close()
        case .reset:
            // Without lingering, close resets the connection and the peer reads ECONNRESET.
            if let options = channel as? any SocketOptionProvider {
                try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            }
            try await channel.close()
        case .truncate(let count):
            try await channel.writeAndFlush(ByteBuffer(bytes: head + body.prefix(count)))
            try await channel.close()
        case .raw(let bytes):
            try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
            try await channel.close()
        case .endless:
            try await channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 \(status) Endless\r\n\r\n"))
            let block = ByteBuffer(repeating: UInt8(ascii: "x"), count: 64 << 10)
            // Ends with an error when the client hangs up.
            while channel.isActive { try await channel.writeAndFlush(block) }
        case .drip(let pause):
            for byte in head + body {
                try await channel.writeAndFlush(ByteBuffer(bytes: [byte]))
                try await Task.sleep(for: pause)
            }
        }
    }
}
