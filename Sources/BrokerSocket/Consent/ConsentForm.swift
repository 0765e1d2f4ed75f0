import BrokerModel
import BrokerValues
import NIOHTTP1
import Synchronization

/// One question on its one-time address: who may see it, and whose answer counts. It knows nothing of sockets.
///
/// The page is shown once. What opens it a second time may be a program that read the address where the browser was
/// started; nobody can tell who was first, so the question is withdrawn.
final class ConsentForm: Sendable {
    /// 256 random bits each.
    let path: String
    private let token: String
    /// Whether the page has a button for it.
    private let offersAllowing: Bool
    private let phase = Mutex(Phase.fresh)

    private enum Phase { case fresh, shown, answered, withdrawn }

    enum Verdict: Equatable {
        case show(token: String)
        case answered(ConsentAnswer)
        /// It was opened twice.
        case withdrawn
        case over
        case refused(HTTPResponseStatus)
    }

    init(offersAllowing: Bool, random: any RandomSource) {
        self.offersAllowing = offersAllowing
        path = "/" + Base64URL.encode(random.bytes(32))
        token = Base64URL.encode(random.bytes(32))
    }

    /// - Parameter port: where the request came in.
    func judge(_ head: HTTPRequestHead, body: [UInt8], port: Int) -> Verdict {
        // Another name that leads here is somebody else's (DNS rebinding).
        guard head.headers[canonicalForm: "host"] == ["127.0.0.1:\(port)"] else { return .refused(.misdirectedRequest) }
        guard Self.isSame(head.uri, path) else { return .refused(.notFound) }
        switch head.method {
        case .GET: return show(head.headers)
        case .POST: return take(head.headers, body, from: "http://127.0.0.1:\(port)")
        default: return .refused(.methodNotAllowed)
        }
    }

    /// Only what a person sees, opened by no other page.
    private func show(_ headers: HTTPHeaders) -> Verdict {
        guard headers["sec-fetch-dest"].allSatisfy({ $0 == "document" }),
            headers["sec-fetch-site"].allSatisfy({ $0 == "none" }), headers["sec-purpose"].isEmpty
        else { return .refused(.forbidden) }
        return phase.withLock { phase in
            switch phase {
            case .fresh:
                phase = .shown
                return .show(token: token)
            case .shown, .withdrawn:
                phase = .withdrawn
                return .withdrawn
            case .answered: return .over
            }
        }
    }

    /// The page's own form, and nothing that another page or a script made.
    private func take(_ headers: HTTPHeaders, _ body: [UInt8], from origin: String) -> Verdict {
        guard headers["origin"] == [origin], headers["sec-fetch-site"].allSatisfy({ $0 == "same-origin" }),
            headers["content-type"] == ["application/x-www-form-urlencoded"]
        else { return .refused(.forbidden) }
        let fields = RedirectParameters(query: Substring(decoding: body, as: UTF8.self))
        guard fields.repeated.isEmpty, Self.isSame(fields["token"] ?? "", token) else { return .refused(.forbidden) }
        guard let answer = ConsentAnswer(fields) else { return .refused(.badRequest) }
        guard answer == .denied || offersAllowing else { return .refused(.forbidden) }
        return phase.withLock { phase in
            guard phase == .shown else { return phase == .answered ? .over : .withdrawn }
            phase = .answered
            return .answered(answer)
        }
    }

    /// In a time that does not tell how much of it is right.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// How long a person can agree to.
enum ConsentTerm: String, CaseIterable {
    case today, month, always

    var lifetime: Int64? {
        switch self {
        case .today: 12 * 3600
        case .month: 30 * 86_400
        case .always: nil
        }
    }

    var text: HTML {
        switch self {
        case .today: "for 12 hours"
        case .month: "for 30 days"
        case .always: "until I take it back"
        }
    }

    static func offered(to caller: CallerIdentity) -> [ConsentTerm] { caller.isUnnamedSandbox ? [.today] : allCases }
}

extension ConsentAnswer {
    fileprivate init?(_ fields: RedirectParameters) {
        switch (fields["answer"], fields["for"].flatMap(ConsentTerm.init(rawValue:))) {
        case ("deny", _): self = .denied
        case ("allow", let term?): self = .allowed(lifetime: term.lifetime)
        default: return nil
        }
    }
}
