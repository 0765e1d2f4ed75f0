import BrokerModel
import NIOCore
import NIOHTTP1

/// One connection of a browser: one request, one answer, the end. Lives on the event loop.
final class RedirectHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private enum Phase { case asking, waiting, answered, ended }

    private let routes: RedirectRoutes
    private let port: UInt16
    private let limits: RedirectLimits
    private let visitor: LoopbackVisitor
    private var context: ChannelHandlerContext?
    private var phase = Phase.asking
    private var timer: Scheduled<Void>?
    /// The answer that a form is for, and the body received so far; `RequestSizeLimit` bounds it.
    private var form: (answer: RedirectRoutes.Answer, body: [UInt8])?

    init(routes: RedirectRoutes, port: UInt16, limits: RedirectLimits, of visitor: LoopbackVisitor) {
        self.routes = routes
        self.port = port
        self.limits = limits
        self.visitor = visitor
    }

    var hasAskedNothing: Bool { phase == .asking }
    var hasItsAnswer: Bool { phase == .answered }

    func cutOff() {
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        allow(limits.asking)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the first request are ignored.
        guard phase == .asking else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): take(head, in: context)
        case .body(let part): form?.body += part.readableBytesView
        case .end:
            guard let form else { return }
            wait(
                for: form.answer, to: RedirectParameters(query: Substring(decoding: form.body, as: UTF8.self)),
                in: context)
        }
    }

    private func take(_ head: HTTPRequestHead, in context: ChannelHandlerContext) {
        switch RedirectVerdict(
            of: head, from: visitor, to: routes, port: port, isOpenToAll: limits.takesRedirectsOfOtherUsers)
        {
        case .redirect(let parameters, let answer): wait(for: answer, to: parameters, in: context)
        case .form(let answer): form = (answer, [])
        case .lookedAt: respond(.lookedAt)
        case .refused(let status): respond(RedirectResponse(refused: status))
        case .ofAnotherUser: respond(.ofAnotherUser)
        }
    }

    /// The page is sent when the sign-in's last step is done. That step belongs to the sign-in, not to the browser: it continues
    /// if the person closes the tab.
    private func wait(
        for answer: @escaping RedirectRoutes.Answer, to parameters: RedirectParameters,
        in context: ChannelHandlerContext
    ) {
        phase = .waiting
        timer?.cancel()
        let home = NIOLoopBound(self, eventLoop: context.eventLoop)
        Task {
            let page = await answer(parameters)
            let response = RedirectResponse(page)
            home.eventLoop.execute { home.value.respond(response) }
        }
    }

    private func respond(_ response: RedirectResponse) {
        guard let context, phase == .asking || phase == .waiting else { return }
        phase = .answered
        allow(limits.reading)
        response.write(to: context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Shutting the writing side after the request is allowed; without a request there is nothing to wait for.
        if let event = event as? ChannelEvent, event == .inputClosed, phase != .waiting { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard phase == .asking else { return context.close(promise: nil) }
        switch error {
        case is RequestSizeLimit.Exceeded:
            respond(RedirectResponse(refused: form == nil ? .requestHeaderFieldsTooLarge : .payloadTooLarge))
        case is HTTPParserError: respond(RedirectResponse(refused: .badRequest))
        default: context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        phase = .ended
        timer?.cancel()
        self.context = nil
    }

    private func allow(_ time: Duration) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: .init(time)) { self.cutOff() }
    }
}
