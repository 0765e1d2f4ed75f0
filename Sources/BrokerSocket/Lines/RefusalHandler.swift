import NIOCore

/// Tells a peer why it is turned away and makes sure that it can hear it.
///
/// A socket that is closed while bytes of the peer wait unread makes the peer's next write fail, and many programs then
/// never read. So the writing side is shut first, and what the peer still sends is dropped until it hangs up, for a
/// moment at most.
final class RefusalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let line: ByteBuffer
    private let limits: LineLimits
    private let table: LineTable
    private var hasBegun = false
    private var isLingering = false
    private var timer: Scheduled<Void>?

    init(saying line: ByteBuffer, limits: LineLimits, table: LineTable) {
        self.line = line
        self.limits = limits
        self.table = table
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { begin(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard !hasBegun else { return }
        hasBegun = true
        let channel = context.channel
        isLingering = table.beginLingering()
        timer = context.eventLoop.scheduleTask(in: .init(limits.linger)) { channel.close(promise: nil) }
        let mode: CloseMode = isLingering ? .output : .all
        context.writeAndFlush(wrapOutboundOut(line)).whenComplete { _ in channel.close(mode: mode, promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        if isLingering { table.endLingering() }
    }
}
