import BrokerModel
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks on 127.0.0.1, at a port and a path of each question's own.
package struct LoopbackConsentPages: ConsentPages {
    private let eventLoop: any EventLoop
    private let random: any RandomSource
    private let limits = RedirectLimits()

    package init(on eventLoop: any EventLoop, random: any RandomSource) {
        self.eventLoop = eventLoop
        self.random = random
    }

    package func open(
        _ question: ConsentQuestion, answer: @escaping @Sendable (ConsentAnswer) async -> ConsentOutcome
    ) async throws(RedirectError) -> any ConsentPage {
        let form = ConsentForm(offersAllowing: ConsentTexts(question).areWhole, random: random)
        let desk = ConsentSession(question, form: form, answer: answer)
        do {
            let listening = try await ServerBootstrap(group: eventLoop)
                .serverChannelOption(.backlog, value: 16)
                .serverChannelInitializer { server in
                    server.eventLoop.makeCompletedFuture {
                        try server.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                    }
                }
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { [limits] child in
                    child.eventLoop.makeCompletedFuture {
                        let pipeline = child.pipeline.syncOperations
                        try pipeline.addHandler(RequestSizeLimit(bytes: limits.request))
                        try pipeline.configureHTTPServerPipeline(
                            withPipeliningAssistance: false, withErrorHandling: false)
                        try pipeline.addHandler(
                            ConsentHandler(desk, port: child.localAddress?.port ?? 0, limits: limits))
                        // Nobody else's browser has business here.
                        let displaced = desk.enter(child)
                        child.closeFuture.whenComplete { _ in desk.leave(child) }
                        displaced?.close(promise: nil)
                        if try pipeline.loopbackVisitor() != .user(geteuid()) { child.close(promise: nil) }
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            return Page(url: "http://127.0.0.1:\(listening.localAddress?.port ?? 0)\(desk.form.entry)", listening)
        } catch {
            throw .cannotListen("The broker cannot listen on 127.0.0.1 for the person's answer: \(error).")
        }
    }

    private struct Page: ConsentPage {
        let url: String
        private let channel: any Channel

        init(url: String, _ channel: any Channel) {
            self.url = url
            self.channel = channel
        }

        func close() async {
            // Closing fails only when it is closed already.
            try? await channel.close().get()
        }
    }
}
