import BrokerEngine
import BrokerModel
import BrokerValues
import Testing

@Suite("Redirects")
struct RedirectCheckTests {
    private func judge(_ query: String, requiresIssuer: Bool = false) -> String {
        let verdict = RedirectCheck.judge(
            RedirectParameters(query: query[...]),
            against: .init(state: "s-1", issuer: "https://id.example.org", requiresIssuer: requiresIssuer))
        switch verdict {
        case .code(let code): return "code " + code.code.revealed()
        case .otherCloud(let host): return "otherCloud \(host)"
        case .refused(let refusal): return "refused \(refusal.error) \(refusal.description ?? "-")"
        case .foreign: return "foreign"
        case .unacceptable(.otherIssuer): return "otherIssuer"
        case .unacceptable(let why): return "\(why)"
        }
    }

    @Test("a code with the right state is the answer")
    func code() {
        #expect(judge("code=c%2B1&state=s-1") == "code c+1")
        #expect(judge("code=c&state=s-1&iss=https%3A%2F%2Fid.example.org", requiresIssuer: true) == "code c")
    }

    @Test("a wrong, missing or repeated state is not for this sign-in")
    func state() {
        #expect(judge("code=c&state=s-2") == "foreign")
        #expect(judge("code=c") == "foreign")
        #expect(judge("code=c&state=s-2&state=s-1") == "foreign")
        #expect(judge("code=c&state=s-1&state=s-1") == "foreign")
    }

    @Test("repeated parameters with the right state cannot be accepted")
    func repeated() {
        #expect(judge("code=c&state=s-1&code=d") == "repeatedParameter")
        #expect(judge("code=c&state=s-2&code=d") == "foreign")
    }

    @Test(
        "a delivered redirect must match the sign-in's redirect URI, as browsers spell it",
        arguments: [
            ("http://127.0.0.1:50001/", "http://127.0.0.1:50001/", true),
            ("http://127.0.0.1:50001/", "http://127.0.0.1:50001", true),
            ("http://127.0.0.1:50001/", "http://127.0.0.1:50002/", false),
            ("http://127.0.0.1:50001/own", "http://127.0.0.1:50001/", false),
            ("http://127.0.0.1:50001/own", "http://127.0.0.1:50001/own/", false),
            ("msauth.Mail://Auth", "msauth.mail://auth/", true), ("msauth.mail://auth", "msauth.mail://other", false),
            ("https://app.example/cb?a=b", "https://app.example/cb", true),
            ("https://app.example/cb", "https://app.example/CB", false), ("my.app:/done", "MY.app:/done", true),
        ])
    func address(own: String, found: String, isOwn: Bool) {
        var expected = RedirectCheck.Expectation(state: "s-1", issuer: "https://id.example.org", requiresIssuer: false)
        expected.redirectURI = own
        let verdict = RedirectCheck.judge(
            RedirectParameters(redirectURL: "\(found)?code=c&state=s-1"), against: expected)
        switch verdict {
        case .code: #expect(isOwn)
        case .unacceptable(.otherAddress): #expect(!isOwn)
        default: Issue.record("\(verdict)")
        }
    }

    @Test("an answer of another issuer, or without a promised issuer, is refused (RFC 9207)")
    func issuer() {
        #expect(judge("code=c&state=s-1&iss=https://evil.example") == "otherIssuer")
        #expect(judge("code=c&state=s-1&iss=https://id.example.org/") == "otherIssuer")
        #expect(judge("code=c&state=s-1", requiresIssuer: true) == "issuerMissing")
    }

    @Test("an error with the right state ends the sign-in, and its text is sanitised")
    func errors() {
        #expect(
            judge("error=access_denied&state=s-1&error_description=No%0Athanks%1b[31m")
                == "refused access_denied Nothanks[31m")
        #expect(judge("error=access_denied&state=other") == "foreign")
    }

    @Test("a provider that promised to name itself may omit it in an error, but not with a code")
    func errorWithoutIssuer() {
        #expect(judge("error=access_denied&state=s-1", requiresIssuer: true) == "refused access_denied -")
        #expect(judge("error=access_denied&code=c&state=s-1", requiresIssuer: true) == "issuerMissing")
        #expect(judge("error=access_denied&state=s-1&iss=https://evil.example", requiresIssuer: true) == "otherIssuer")
    }

    @Test("a redirect with neither code nor error is not accepted")
    func empty() {
        #expect(judge("state=s-1") == "neitherCodeNorError")
        #expect(judge("state=s-1&code=") == "neitherCodeNorError")
        #expect(judge("") == "foreign")
    }
}
