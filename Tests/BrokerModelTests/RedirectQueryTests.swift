import BrokerModel
import Testing

@Suite("Redirect queries")
struct RedirectQueryTests {
    @Test("code, state and issuer are decoded, with plus as a space")
    func plain() {
        let parameters = RedirectParameters(
            query: "code=a%2Fb%2Bc&state=xyz&iss=https%3A%2F%2Fidp.example%2Frealm&error_description=try+it%20again")
        #expect(parameters["code"] == "a/b+c")
        #expect(parameters["state"] == "xyz")
        #expect(parameters["iss"] == "https://idp.example/realm")
        #expect(parameters["error_description"] == "try it again")
        #expect(parameters.repeated.isEmpty)
    }

    @Test("names are decoded too, so an escaped name cannot hide a repetition")
    func repeatedNames() {
        let parameters = RedirectParameters(query: "code=first&c%6Fde=second&state=s")
        #expect(parameters["code"] == "first")
        #expect(parameters.repeated == ["code"])
    }

    @Test(
        "a malformed percent sequence stays as it is",
        arguments: [
            ("x=100%", "100%"), ("x=%", "%"), ("x=%4", "%4"), ("x=%zz", "%zz"), ("x=%4x%41", "%4xA"),
            ("x=%%41", "%A"), ("x=%+1", "% 1"), ("x=%-1", "%-1"),
        ])
    func malformed(query: String, expected: String) {
        #expect(RedirectParameters(query: query[...])["x"] == expected)
    }

    @Test("invalid UTF-8 is replaced, and a zero byte is an ordinary character")
    func oddBytes() {
        let parameters = RedirectParameters(query: "a=%ff%fe&b=x%00y&c=%C3%A9")
        #expect(parameters["a"] == "\u{fffd}\u{fffd}")
        #expect(parameters["b"] == "x\u{0}y")
        #expect(parameters["c"] == "é")
    }

    @Test("empty parts, empty values and extra equals signs are accepted")
    func edges() {
        let parameters = RedirectParameters(query: "&&a&b=&c=d=e&=nameless&")
        #expect(parameters.values == ["a": "", "b": "", "c": "d=e", "": "nameless"])
        #expect(parameters.repeated.isEmpty)
        #expect(RedirectParameters(query: "").values.isEmpty)
    }

    @Test("canonically equivalent names count as repeated")
    func canonicalEquivalence() {
        let parameters = RedirectParameters(query: "%C3%A9=1&e%CC%81=2")
        #expect(parameters.repeated.count == 1)
    }

    @Test("in a whole URL only the query is parsed, not the fragment that browsers add")
    func wholeURL() {
        let parameters = RedirectParameters(redirectURL: "http://127.0.0.1:4711/cb?code=c&state=s%23#_=_?state=other")
        #expect(parameters.values == ["code": "c", "state": "s#"])
        #expect(RedirectParameters(redirectURL: "myapp:/done").values.isEmpty)
        #expect(RedirectParameters(redirectURL: "myapp:/done?state=a?b")["state"] == "a?b")
    }

    @Test(
        "a pasted redirect may lack its scheme, or be in quotes or angle brackets",
        arguments: [
            "http://127.0.0.1:4711/cb?code=c&state=s", "'http://127.0.0.1:4711/cb?code=c&state=s'",
            "\"http://127.0.0.1:4711/cb?code=c&state=s\"", " <http://127.0.0.1:4711/cb?code=c&state=s>\n",
            "127.0.0.1:4711/cb?code=c&state=s#_=_",
        ])
    func pasted(_ text: String) {
        let redirect = RedirectParameters(redirectURL: text[...])
        #expect(redirect.address == "http://127.0.0.1:4711/cb")
        #expect(redirect.values == ["code": "c", "state": "s"])
    }

    @Test("a pasted query without its address is parsed", arguments: ["?code=c&state=s", "code=c&state=s"])
    func pastedQuery(_ text: String) {
        let redirect = RedirectParameters(redirectURL: text[...])
        #expect(redirect.address == nil)
        #expect(redirect.values == ["code": "c", "state": "s"])
    }

    @Test(
        "a pasted address with an app's own scheme keeps it",
        arguments: ["msauth.org.example://auth", "myapp:/done", "com.example.app:callback"])
    func ownScheme(_ address: String) {
        #expect(RedirectParameters(redirectURL: "\(address)?state=s").address == address)
    }
}
