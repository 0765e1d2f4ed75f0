import BrokerModel
import BrokerValues
import NIOHTTP1
import Synchronization

/// One question on its own addresses, and the rules for viewing and answering it. It is independent of sockets.
///
/// The address that the browser is started with works once, and leads to another one, which is in no program's arguments. A
/// second opening of the first may be a program that read it there; as the order cannot be known, the question is withdrawn. The
/// second address may be loaded again with the cookie that came with it: by the same browser.
final class ConsentForm: Sendable {
    /// The path where the browser enters. 256 random bits each.
    let entry: String
    /// The path of the page.
    let page: String
    /// Tied to the page's path: without that it would be sent to other ports of this machine.
    private let cookie: String
    private let token: String
    /// Whether the page has a button to allow.
    private let offersAllowing: Bool
    private let phase = Mutex(Phase.fresh)

    private enum Phase {
        case fresh, entered
        /// - keepsCookie: whether the browser sent the cookie; one that keeps none loads the page once.
        case shown(keepsCookie: Bool)
        case answered, withdrawn
    }

    enum Verdict {
        /// - cookie: with its attributes.
        case enter(page: String, cookie: String)
        case show(token: String)
        case answered(ConsentAnswer)
        /// It was opened twice.
        case withdrawn
        case over
        case refused(HTTPResponseStatus)
    }

    init(offersAllowing: Bool, random: any RandomSource) {
        self.offersAllowing = offersAllowing
        func secret() -> String { Base64URL.encode(random.bytes(32)) }
        entry = "/" + secret()
        page = "/" + secret()
        cookie = "token-broker=" + secret()
        token = secret()
    }

    /// - Parameter port: the port that received the request.
    func judge(_ head: HTTPRequestHead, body: [UInt8], port: Int) -> Verdict {
        // Another name that leads here belongs to another site (DNS rebinding).
        guard head.headers[canonicalForm: "host"] == ["127.0.0.1:\(port)"] else { return .refused(.misdirectedRequest) }
        let isPage = Self.isSame(head.uri, page)
        guard isPage || Self.isSame(head.uri, entry) else { return .refused(.notFound) }
        switch head.method {
        case .GET: return show(head.headers, isPage: isPage)
        case .POST where isPage: return take(head.headers, body, from: "http://127.0.0.1:\(port)")
        default: return .refused(.methodNotAllowed)
        }
    }

    /// Only for a page that a person sees, opened by no other page.
    private func show(_ headers: HTTPHeaders, isPage: Bool) -> Verdict {
        guard headers["sec-fetch-dest"].allSatisfy({ $0 == "document" }),
            headers["sec-fetch-site"].allSatisfy({ $0 == "none" }), headers["sec-purpose"].isEmpty
        else { return .refused(.forbidden) }
        let isKept = hasCookie(headers)
        return phase.withLock { phase in
            switch (phase, isPage) {
            case (.answered, _): return .over
            case (.fresh, false):
                phase = .entered
                return .enter(page: page, cookie: "\(cookie); Path=\(page); HttpOnly; SameSite=Strict")
            case (.entered, true):
                phase = .shown(keepsCookie: isKept)
                return .show(token: token)
            case (.shown(keepsCookie: true), true) where isKept: return .show(token: token)
            default:
                phase = .withdrawn
                return .withdrawn
            }
        }
    }

    /// A wrong cookie ends the question: the time of the comparison reveals nothing.
    private func hasCookie(_ headers: HTTPHeaders) -> Bool {
        headers["cookie"].contains { " \($0);".holds(" \(cookie);") }
    }

    /// Accepts the page's own form only, not one made by another page or a script.
    private func take(_ headers: HTTPHeaders, _ body: [UInt8], from origin: String) -> Verdict {
        guard headers["origin"] == [origin], headers["sec-fetch-site"].allSatisfy({ $0 == "same-origin" }),
            headers["content-type"] == ["application/x-www-form-urlencoded"]
        else { return .refused(.forbidden) }
        let fields = RedirectParameters(query: Substring(decoding: body, as: UTF8.self))
        guard fields.repeated.isEmpty, Self.isSame(fields["token"] ?? "", token) else { return .refused(.forbidden) }
        guard let answer = ConsentAnswer(fields) else { return .refused(.badRequest) }
        guard answer == .denied || offersAllowing else { return .refused(.forbidden) }
        let isKept = hasCookie(headers)
        return phase.withLock { phase in
            guard case .shown(let keepsCookie) = phase else {
                if case .answered = phase { return .over }
                return .withdrawn
            }
            guard isKept || !keepsCookie else { return .refused(.forbidden) }
            phase = .answered
            return .answered(answer)
        }
    }

    /// Takes a time that does not depend on how much of it is right.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension ConsentAnswer {
    fileprivate init?(_ fields: RedirectParameters) {
        switch (fields["answer"], fields["for"].flatMap(GrantTerm.init(rawValue:))) {
        case ("deny", _): self = .denied
        case ("allow", let term?): self = .allowed(lifetime: term.lifetime)
        default: return nil
        }
    }
}
