import NIOCore

/// Passes a bounded number of bytes to the HTTP parser, and reports the first one beyond as an error.
final class RequestSizeLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    struct Exceeded: Error {}

    private var rest: Int

    init(bytes: Int) {
        rest = bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard rest >= 0 else { return }
        rest -= unwrapInboundIn(data).readableBytes
        if rest >= 0 {
            context.fireChannelRead(data)
        } else {
            context.fireErrorCaught(Exceeded())
        }
    }
}
