import BrokerModel
import BrokerValues
import NIOHTTP1

/// The meaning of a request to the redirect listener.
enum RedirectVerdict {
    /// The browser came back from the provider.
    case redirect(RedirectParameters, RedirectRoutes.Answer)
    /// The same, with the parameters in the body that follows.
    case form(RedirectRoutes.Answer)
    /// HEAD: a program checks the address (a link checker, a preview) and must not use the redirect up.
    case lookedAt
    case refused(HTTPResponseStatus)
    /// A sign-in waits here, but not for this user's browser: a user who reads the address of a sign-in from a browser's
    /// arguments could finish it as another user.
    case ofAnotherUser

    init(
        of head: HTTPRequestHead, from visitor: LoopbackVisitor, to routes: RedirectRoutes, port: UInt16,
        isOpenToAll: Bool
    ) {
        let target = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if !Self.namesLoopback(head.headers[canonicalForm: "host"], port: port) {
            // DNS rebinding: a name of another site that leads here.
            self = .refused(.misdirectedRequest)
        } else if let path = target.first.map({ String($0) }), routes.lead(to: path) {
            let isForm = head.method == .POST
            guard !isForm || routes.takeForm(at: path) else {
                self = .refused(.methodNotAllowed)
                return
            }
            guard let answer = routes.answer(at: path, isForm: isForm, to: visitor, isOpenToAll: isOpenToAll) else {
                self = .ofAnotherUser
                return
            }
            self = Self.judge(head, query: target.count > 1 ? target[1] : "", answer)
        } else {
            self = .refused(.notFound)
        }
    }

    /// For a path where a sign-in waits.
    private static func judge(
        _ head: HTTPRequestHead, query: Substring, _ answer: @escaping RedirectRoutes.Answer
    ) -> RedirectVerdict {
        if head.method == .HEAD { return .lookedAt }
        guard head.method == .GET || head.method == .POST else { return .refused(.methodNotAllowed) }
        guard isNavigation(head.headers) else { return .refused(.forbidden) }
        guard head.method == .POST else { return .redirect(RedirectParameters(query: query), answer) }
        return isForm(head.headers) ? .form(answer) : .refused(.unsupportedMediaType)
    }

    private static func isForm(_ headers: HTTPHeaders) -> Bool {
        let types = headers[canonicalForm: "content-type"]
        let type = types.first?.prefix { $0 != ";" && $0 != " " }.lowercased()
        return types.count == 1 && type == "application/x-www-form-urlencoded"
    }

    private static func namesLoopback(_ hosts: [Substring], port: UInt16) -> Bool {
        guard hosts.count == 1, let host = hosts.first?.lowercased() else { return false }
        let suffix = ":\(port)"
        if host.hasSuffix(suffix) { return WebURL.isLoopback(host.dropLast(suffix.count)) }
        return port == 80 && WebURL.isLoopback(host)
    }

    /// Whether the browser shows the answer to a person (Fetch Metadata). A request by another page for the address as an image,
    /// a script or a frame, or ahead of time, is no redirect. Browsers without these headers pass.
    private static func isNavigation(_ headers: HTTPHeaders) -> Bool {
        headers["sec-fetch-dest"].allSatisfy { $0 == "document" } && headers["sec-purpose"].isEmpty
    }
}
