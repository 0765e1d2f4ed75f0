import BrokerModel
import NIOCore
import NIOHTTP1

/// The redirect listener's responses. Each closes its connection and is never cached.
struct RedirectResponse: Sendable {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: String

    init(_ page: RedirectPage) {
        self.init(
            page: PageTemplate.render(page), policy: PageTemplate.contentSecurityPolicy, referrer: "no-referrer")
        switch page {
        case .notExpected, .notAccepted: status = .badRequest
        case .goesOn(let url):
            status = .seeOther
            headers.add(name: "location", value: url)
        default: break
        }
    }

    init(page: String, policy: String, referrer: String) {
        status = .ok
        body = page
        headers = Self.headers(type: "text/html; charset=utf-8", policy: policy)
        headers.replaceOrAdd(name: "referrer-policy", value: referrer)
        // The address holds a secret: no other site may share a browsing context with it.
        headers.add(name: "cross-origin-opener-policy", value: "same-origin")
    }

    /// - Parameter status: the only content, so that a visitor does not learn what listens here.
    init(refused status: HTTPResponseStatus) {
        self.status = status
        body = "\(status.reasonPhrase)\n"
        headers = Self.headers(
            type: "text/plain; charset=utf-8", policy: "default-src 'none'; frame-ancestors 'none'")
        if status == .methodNotAllowed { headers.add(name: "allow", value: "GET, HEAD") }
    }

    static let lookedAt: RedirectResponse = {
        var response = RedirectResponse(refused: .noContent)
        response.body = ""
        return response
    }()

    static let ofAnotherUser: RedirectResponse = {
        var response = RedirectResponse(refused: .forbidden)
        response.body = """
            This sign-in is another user's, and was not finished by this browser. If one person is both, \
            set interaction.allow_redirects_of_other_users.

            """
        return response
    }()

    private static func headers(type: String, policy: String) -> HTTPHeaders {
        [
            "content-type": type,
            "content-security-policy": policy,
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "cross-origin-resource-policy": "same-origin",
            "connection": "close",
        ]
    }
}

extension RedirectResponse {
    /// Ends the writing side. The browser hangs up when it has the page; until then its unread bytes must not reset the
    /// connection.
    func write(to context: ChannelHandlerContext) {
        let content = ByteBuffer(string: body)
        var headers = headers
        if status != .noContent { headers.add(name: "content-length", value: "\(content.readableBytes)") }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
        context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(content))), promise: nil)
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
    }
}
