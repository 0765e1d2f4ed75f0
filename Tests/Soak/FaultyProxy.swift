import BrokerTestSupport
import NIOCore
import NIOPosix
import Synchronization

/// The network between the broker and a provider. The provider does not learn of data that is lost or damaged on it.
final class FaultyProxy: Sendable {
    /// All but the last affect one request of the broker; people's browsers are spared. The text is for the summary.
    enum Fault: String, CaseIterable {
        /// By RST, before the provider receives the request. Mostly the connection was a reused one, so this looks like its idle
        /// end.
        case reset = "requests reset"
        /// Something else answers instead of the provider.
        case garbage = "answers that are no HTTP"
        /// The provider has done its work, and the response is lost.
        case lost = "answers lost"
        case cut = "answers cut"
        case trickling = "answers that trickled"
        case late = "answers that were late"
        /// The port is closed for a moment, and every connection is gone.
        case outage = "outages"
    }

    private struct State {
        var due: [Fault] = []
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    private let port: Int
    private let target: Int
    private let findings: Findings
    fileprivate let spentTokens: SpentTokens
    private let state = Mutex(State())

    private init(port: Int, target: Int, findings: Findings, spentTokens: SpentTokens) {
        (self.port, self.target, self.findings, self.spentTokens) = (port, target, findings, spentTokens)
    }

    /// - Parameters:
    ///   - port: not one that the kernel assigns (``FreePort``): otherwise another process may have it after an outage.
    ///   - findings: records each fault when it happens.
    ///   - spentTokens: records each refresh token whose successor was delivered.
    static func start(
        on port: UInt16, to target: Int, _ findings: Findings, _ spentTokens: SpentTokens, in bed: TestBed
    ) async throws -> FaultyProxy {
        let proxy = FaultyProxy(port: Int(port), target: target, findings: findings, spentTokens: spentTokens)
        try await proxy.listen()
        bed.atEnd { await proxy.close() }
        return proxy
    }

    /// An outage is over on return; a fault of a request waits for one.
    func cause(_ fault: Fault) async throws {
        guard fault == .outage else { return state.withLock { $0.due.append(fault) } }
        await close()
        happened(fault)
        try await Task.sleep(for: .milliseconds(.random(in: 100...500)))
        try await listen()
    }

    /// Cancels pending faults.
    func calm() { state.withLock { $0.due = [] } }

    fileprivate func nextFault() -> Fault? { state.withLock { $0.due.isEmpty ? nil : $0.due.removeFirst() } }

    fileprivate func happened(_ fault: Fault) { findings.count(fault.rawValue) }

    // MARK: Connections

    private func listen() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { client in
                self.remember(client)
                return ClientBootstrap(group: client.eventLoop)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: "127.0.0.1", port: self.target)
                    .flatMapThrowing { try Crossing.join(client, $0, self) }
            }
            .bind(host: "127.0.0.1", port: port).get()
        state.withLock { $0.listener = listener }
    }

    private func remember(_ client: any Channel) {
        let id = ObjectIdentifier(client)
        state.withLock { $0.connections[id] = client }
        client.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[id] = nil } }
    }

    private func close() async {
        try? await state.withLock { $0.listener }?.close()
        for client in state.withLock({ Array($0.connections.values) }) { try? await client.close() }
    }
}

/// A connection and its other half. Both run on the event loop that they share.
private final class Crossing {
    private let proxy: FaultyProxy
    private let client: any Channel
    private let server: any Channel

    // For the request in progress: the broker sends none before the last one is answered.
    private var fault: FaultyProxy.Fault?
    private var hasStruck = false
    private var exchange: Exchange
    private var isAnswered = true
    /// When the last piece of the response is due, and the number of pieces still to send.
    private var due = NIODeadline.now()
    private var waiting = 0

    static func join(_ client: any Channel, _ server: any Channel, _ proxy: FaultyProxy) throws {
        let crossing = Crossing(client, server, proxy)
        try client.pipeline.syncOperations.addHandler(Reader { crossing.take(request: $0) })
        try server.pipeline.syncOperations.addHandler(Reader { crossing.take(answer: $0) })
        client.closeFuture.whenComplete { _ in server.close(promise: nil) }
        server.closeFuture.whenComplete { _ in client.close(promise: nil) }
    }

    private init(_ client: any Channel, _ server: any Channel, _ proxy: FaultyProxy) {
        (self.client, self.server, self.proxy) = (client, server, proxy)
        exchange = Exchange(proxy.spentTokens.begin())
    }

    private func take(request piece: ByteBuffer) {
        let text = String(buffer: piece)
        if isAnswered {
            fault = text.contains("User-Agent: token-broker/") ? proxy.nextFault() : nil
            (isAnswered, hasStruck, exchange) = (false, false, Exchange(proxy.spentTokens.begin()))
        }
        switch fault {
        case .reset:
            strike()
            // With a linger time of 0, closing resets the connection, and the peer reads ECONNRESET.
            _ = (client as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            client.close(promise: nil)
        case .garbage:
            guard strike() else { return }
            // The rest of the request is read first: unread data would turn the end into a reset.
            end(with: ByteBuffer(bytes: (0..<200).map { _ in UInt8.random(in: 0...255) }), after: .milliseconds(20))
        default:
            exchange.add(request: piece)
            server.writeAndFlush(piece, promise: nil)
        }
    }

    private func take(answer piece: ByteBuffer) {
        isAnswered = false
        if !exchange.hasResponse, let token = exchange.refreshToken {
            proxy.spentTokens.redeemed(token, by: exchange.id)
        }
        exchange.add(response: piece)
        switch fault {
        case .lost:
            strike()
            client.close(promise: nil)
        case .cut:
            guard strike() else { return }
            let some = piece.readableBytesView.prefix(.random(in: 1...max(1, piece.readableBytes / 2)))
            end(with: ByteBuffer(some), after: .zero)
        case .trickling where strike():
            var piece = piece
            let drop = max(1, piece.readableBytes / 50)
            while let some = piece.readSlice(length: min(drop, piece.readableBytes)), some.readableBytes > 0 {
                send(some, after: .milliseconds(20))
            }
        case .late where strike():
            send(piece, after: .milliseconds(500))
        default:
            send(piece, after: .zero)
        }
    }

    /// - Returns: whether this is the first effect of the fault.
    @discardableResult
    private func strike() -> Bool {
        defer { hasStruck = true }
        if let fault, !hasStruck { proxy.happened(fault) }
        return !hasStruck
    }

    /// - Parameter delay: counted from the previous piece.
    private func send(_ piece: ByteBuffer, after delay: TimeAmount) {
        due = max(due, .now()) + delay
        waiting += 1
        client.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in
            client.writeAndFlush(piece).assumeIsolated().whenSuccess { [self] in
                waiting -= 1
                isAnswered = waiting == 0
                guard isAnswered, let token = exchange.refreshToken, exchange.replacesRefreshToken else { return }
                proxy.spentTokens.replaced(token, by: exchange.id)
            }
        }
    }

    private func end(with piece: ByteBuffer, after delay: TimeAmount) {
        client.eventLoop.scheduleTask(in: delay) { [client] in
            client.writeAndFlush(piece).whenComplete { _ in client.close(promise: nil) }
        }
    }
}

private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let take: (ByteBuffer) -> Void

    init(_ take: @escaping (ByteBuffer) -> Void) { self.take = take }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { take(unwrapInboundIn(data)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
