import BrokerModel
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Shows questions in the user's browser: on 127.0.0.1, with a port and a path for each question.
package struct LoopbackConsentPages: Sendable {
    private let eventLoop: any EventLoop
    private let random: any RandomSource
    private let limits = RedirectLimits()

    package init(on eventLoop: any EventLoop, random: any RandomSource) {
        self.eventLoop = eventLoop
        self.random = random
    }

    /// - Parameter answer: called at most once.
    package func open(
        _ question: ConsentQuestion, answer: @escaping @Sendable (ConsentAnswer) async -> ConsentOutcome
    ) async throws(RedirectError) -> ConsentPage {
        let form = ConsentForm(offersAllowing: ConsentTexts(question).areWhole, random: random)
        let session = ConsentSession(question, form: form, answer: answer)
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
                            ConsentHandler(session, port: child.localAddress?.port ?? 0, limits: limits))
                        // No other user's browser is served here.
                        let displaced = session.enter(child)
                        child.closeFuture.whenComplete { _ in session.leave(child) }
                        displaced?.close(promise: nil)
                        if try pipeline.loopbackVisitor() != .user(geteuid()) { child.close(promise: nil) }
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let url = "http://127.0.0.1:\(listening.localAddress?.port ?? 0)\(session.form.entry)"
            return ConsentPage(url: url, listening)
        } catch {
            throw .cannotListen("The broker cannot listen on 127.0.0.1 for the person's answer: \(error).")
        }
    }
}

package struct ConsentPage: Sendable {
    /// Grants access to the question: it is for the browser only.
    package let url: String
    private let channel: any Channel

    fileprivate init(url: String, _ channel: any Channel) {
        self.url = url
        self.channel = channel
    }

    /// Stops listening; a page under way is still delivered.
    package func close() async {
        // Closing fails only if it is closed already.
        try? await channel.close().get()
    }
}
