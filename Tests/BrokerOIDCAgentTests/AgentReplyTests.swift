import BrokerOIDCAgent
import BrokerValues
import Testing

@Suite("Answers to oidc-agent clients")
struct AgentReplyTests {
    @Test("an answer has the members that clients look for")
    func members() {
        let token = Array("eyJ\"\u{e9}".utf8)
        #expect(
            Self.text { writer in
                token.withUnsafeBytes {
                    AgentReply.token(.access, $0, issuer: "https://id.example", expiresAt: 17, to: &writer)
                }
            } == #"{"status":"success","access_token":"eyJ\"é","issuer":"https://id.example","expires_at":17}"#)
        #expect(
            Self.text { writer in
                token.withUnsafeBytes { AgentReply.token(.id, $0, issuer: "i", expiresAt: 0, to: &writer) }
            } == #"{"status":"success","id_token":"eyJ\"é","issuer":"i","expires_at":0}"#)
        #expect(Self.text { AgentReply.names(["a", "b\n"], to: &$0) } == #"{"status":"success","info":["a","b\n"]}"#)
        #expect(Self.text { AgentReply.names([], to: &$0) } == #"{"status":"success","info":[]}"#)
        #expect(
            Self.text { AgentReply.failure(.unknown(account: "x"), to: &$0) }
                == #"{"status":"failure","error":"No account configured with that short name","info":"To register an app for it, run: brokerctl apps add x …"}"#
        )
    }

    @Test(
        "an answer with a failure ends with the command to run, for every kind of error", arguments: ErrorKind.allCases)
    func failures(kind: ErrorKind) {
        for app in [nil, "work", "my 'app'", "two\nlines"] {
            let failure = AgentFailure(BrokerError(kind, "A sentence."), app: app)
            #expect(failure.error == "A sentence.")
            #expect(failure.info.contains(", run: brokerctl "), "\(failure.info)")
            #expect(!failure.info.contains("\n"))
            #expect(failure.error != AgentFailure.noSuchAccount)
        }
    }

    @Test("an answer names the app in the command")
    func commands() {
        let signIn = BrokerError(.interactionRequired, "Sign in.", reason: .noTokens)
        #expect(AgentFailure(signIn, app: "work").info == "To sign in, run: brokerctl login --app work")
        #expect(AgentFailure(signIn, app: "a b").info == "To sign in, run: brokerctl login --app 'a b'")
        #expect(AgentFailure(signIn, app: "a\u{202e}b").info == "To sign in, run: brokerctl login")
        let ask = BrokerError(.grantRequired, "Ask.") { $0.grantRequest = "r7" }
        #expect(AgentFailure(ask, app: "work").info == "To allow it, run: brokerctl grants approve r7")
    }

    @Test("an answer for an issuer that fits no app, or several, names them")
    func issuers() {
        let none = AgentFailure.issuer("https://id.example", fits: [])
        #expect(none.error != AgentFailure.noSuchAccount && none.info.hasSuffix("run: brokerctl apps list"))
        let several = AgentFailure.issuer("https://id.example", fits: ["a b", "c"])
        #expect(several.error.hasSuffix("https://id.example: a b, c"))
        #expect(several.info.hasSuffix("run: oidc-token 'a b'"))
    }

    static func text(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
