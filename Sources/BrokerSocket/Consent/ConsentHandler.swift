import BrokerModel
import NIOCore
import NIOHTTP1
import Synchronization

/// One connection of a browser to a question: one request, one answer, the end. Lives on the event loop.
final class ConsentHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let session: ConsentSession
    private let port: Int
    private let limits: RedirectLimits
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isAnswered = false

    init(_ session: ConsentSession, port: Int, limits: RedirectLimits) {
        self.session = session
        self.port = port
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        allow(limits.asking)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): if self.head == nil { self.head = head }
        case .body(let part): body += part.readableBytesView
        case .end:
            session.hasSpoken(context.channel)
            if let head, !isAnswered { answer(head, in: context) }
        }
    }

    private func answer(_ head: HTTPRequestHead, in context: ChannelHandlerContext) {
        isAnswered = true
        // The request came in time. Its answer may take longer.
        timer?.cancel()
        let home = NIOLoopBound(self, eventLoop: context.eventLoop)
        let (session, body, port) = (session, body, port)
        Task {
            let response = await session.response(to: head, body: body, port: port)
            home.eventLoop.execute { home.value.respond(response) }
        }
    }

    private func respond(_ response: RedirectResponse) {
        guard let context else { return }
        allow(limits.reading)
        response.write(to: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isAnswered else { return context.close(promise: nil) }
        isAnswered = true
        respond(RedirectResponse(refused: error is RequestSizeLimit.Exceeded ? .payloadTooLarge : .badRequest))
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    private func allow(_ time: Duration) {
        timer?.cancel()
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: .init(time)) {
            self.context?.close(promise: nil)
        }
    }
}

/// One question, and its answers.
final class ConsentSession: Sendable {
    let form: ConsentForm
    private let question: ConsentQuestion
    private let answer: @Sendable (ConsentAnswer) async -> ConsentOutcome
    /// Connections at a time: a browser opens a few.
    private static let places = 32
    /// The number of connections, and those without a whole request yet, in order of arrival.
    private let visitors = Mutex((count: 0, silent: [any Channel]()))

    init(
        _ question: ConsentQuestion, form: ConsentForm,
        answer: @escaping @Sendable (ConsentAnswer) async -> ConsentOutcome
    ) {
        self.question = question
        self.form = form
        self.answer = answer
    }

    /// If there is no room, the connection that has asked nothing for longest goes: a browser sends its request at once. Each entry ends with
    /// ``leave(_:)``, in any case.
    ///
    /// - Returns: the connection to close; it may be the new one.
    func enter(_ visitor: any Channel) -> (any Channel)? {
        visitors.withLock { visitors in
            visitors.count += 1
            visitors.silent.append(visitor)
            return visitors.count > Self.places ? visitors.silent.removeFirst() : nil
        }
    }

    func hasSpoken(_ visitor: any Channel) {
        visitors.withLock { visitors in visitors.silent.removeAll { $0 === visitor } }
    }

    func leave(_ visitor: any Channel) {
        hasSpoken(visitor)
        visitors.withLock { $0.count -= 1 }
    }

    func response(to head: HTTPRequestHead, body: [UInt8], port: Int) async -> RedirectResponse {
        switch form.judge(head, body: body, port: port) {
        case .enter(let page, let cookie): RedirectResponse(entering: page, cookie)
        case .show(let token): RedirectResponse(asking: ConsentTemplate.render(question, path: form.page, token: token))
        case .answered(let answer): RedirectResponse(showing: PageContent(await self.answer(answer)))
        case .withdrawn: RedirectResponse(showing: .openedTwice)
        case .over: RedirectResponse(showing: PageContent(.failed("It was answered before.")))
        case .refused(let status): RedirectResponse(refused: status)
        }
    }
}
