import BrokerModel
import BrokerOIDCAgent
import BrokerValues
import Testing

/// Requests recorded from Debian's clients 4.2.6 and Python's liboidcagent 0.6.0 with a server of our own.
@Suite("Requests of oidc-agent clients")
struct AgentRequestTests {
    static let recorded: [(json: String, request: AgentRequest)] = [
        (
            #"{"request":"access_token","min_valid_period":0,"account":"acc","application_hint":"oidc-token"}"#,
            .token(AgentTokenRequest(.access, .account("acc"), hint: "oidc-token"))
        ),
        (
            #"{"request":"access_token","min_valid_period":60,"account":"acc","scope":"a b","application_hint":"myapp","audience":"x"}"#,
            .token(
                AgentTokenRequest(
                    .access, .account("acc"), minimumLifetime: 60, scopes: ["a", "b"], resource: "x", hint: "myapp"))
        ),
        (
            #"{"request":"access_token","min_valid_period":-1,"account":"acc","application_hint":"oidc-token"}"#,
            .token(AgentTokenRequest(.access, .account("acc"), forcesRefresh: true, hint: "oidc-token"))
        ),
        (
            #"{"request":"access_token","min_valid_period":0,"issuer":"https://issuer.example/","application_hint":"oidc-token"}"#,
            .token(AgentTokenRequest(.access, .issuer("https://issuer.example/"), hint: "oidc-token"))
        ),
        (
            #"{"request": "access_token", "account": "acc", "min_valid_period": 0}"#,
            .token(AgentTokenRequest(.access, .account("acc")))
        ),
        (#"{"request":"id_token","account":"acc"}"#, .token(AgentTokenRequest(.id, .account("acc")))),
        (#"{"request":"loaded_accounts"}"#, .loadedAccounts),
        (#"{"request":"status"}"#, .status),
        (#"{"request":"status_json"}"#, .statusJSON),
        (#"{"request":"check"}"#, .check),
        (#"{"request":"lock","password":"geheim"}"#, .lock(passphrase: Secret("geheim"))),
        (#"{"request":"unlock","password":"geheim"}"#, .unlock(passphrase: Secret("geheim"))),
    ]

    @Test("a recorded request is parsed", arguments: recorded)
    func read(json: String, request: AgentRequest) throws {
        #expect(try Self.request(json) == request)
    }

    @Test("empty, missing and unknown members of a request make no difference")
    func forgiving() throws {
        let plain = AgentRequest.token(AgentTokenRequest(.access, .account("acc")))
        for more in [
            #""scope":"""#, #""audience":null"#, #""min_valid_period":"0""#, #""issuer":"https://other.example""#,
            #""new":{"since":[5]}"#, #""scope":"  ""#,
        ] {
            #expect(try Self.request(#"{"request":"access_token","account":"acc",\#(more)}"#) == plain, "\(more)")
        }
    }

    @Test("a request may name an account with every character that JSON allows")
    func everyCharacter() throws {
        let controls = (0...0x1f).map { #"\u00"# + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let text = try Self.request(
            #"{"request":"access_token","account":"\#(controls)\"\\\/🜁é\ud83d\ude00\#u{2028}"}"#)
        let name = String(String.UnicodeScalarView((0...0x1f as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)))
        #expect(text == .token(AgentTokenRequest(.access, .account(name + "\"\\/🜁é😀\u{2028}"))))
    }

    @Test(
        "an invalid request is refused with the member's name",
        arguments: [
            ("[]", AgentRefusal.missing("request")), ("{}", .missing("request")),
            (#"{"request":5}"#, .wrongType("request")), (#"{"request":""}"#, .missing("request")),
            (#"{"request":"access_token"}"#, .missing("account")),
            (#"{"request":"access_token","account":["a"]}"#, .wrongType("account")),
            (#"{"request":"access_token","account":"a","scope":["b"]}"#, .wrongType("scope")),
            (#"{"request":"access_token","account":"a","min_valid_period":1.5}"#, .wrongType("min_valid_period")),
            (#"{"request":"access_token","account":"a","min_valid_period":1e99}"#, .wrongType("min_valid_period")),
            (#"{"request":"lock"}"#, .missing("password")),
            (#"{"request":"remove_all"}"#, .unknownRequest("remove_all")),
            (#"{"request":"check","request":"status"}"#, .malformed(.nameTwice)),
            (#"{"request":"check"} {}"#, .malformed(.trailingBytes)), (#"{"request":"ch"#, .malformed(.unexpectedEnd)),
            ("", .malformed(.unexpectedEnd)), (#"{"request":"\ud800"}"#, .malformed(.loneSurrogate)),
        ])
    func refused(json: String, refusal: AgentRefusal) {
        #expect(throws: refusal) { try Self.request(json) }
    }

    @Test("a refused request is answered with the command that helps")
    func advice() {
        let refusals: [AgentRefusal] = [
            .tooLong(limit: 5), .neitherKeyNorObject, .badKey, .badFrame, .sealBroken, .malformed(.badEscape),
            .missing("a"), .wrongType("b"), .unknownRequest("x\n\u{1b}[2Jy"), .unknownRequest("remove_all"), .stalled,
            .cutOff,
        ]
        for refusal in refusals {
            let failure = refusal.failure
            #expect(failure.info.contains(", run: brokerctl "), "\(refusal)")
            #expect(failure.error.unicodeScalars.allSatisfy { $0.isSafeToShow }, "\(refusal)")
        }
    }

    @Test(
        "a request that searches all apps is recognized beforehand",
        arguments: [
            (#"{"request":"access_token","account":"a"}"#, false),
            (#"{"request":"access_token","issuer":"https://a.example"}"#, true),
            (#"{"request":"id_token","issuer":"https://a.example"}"#, true), (#"{"request":"status"}"#, true),
            (#"{"request":"status_json"}"#, true), (#"{"request":"loaded_accounts"}"#, true),
            (#"{"request":"check"}"#, false), (#"{"request":"lock","password":"p"}"#, false),
        ])
    func looking(json: String, looks: Bool) throws {
        #expect(try Self.request(json).looksThroughApps == looks)
    }

    static func request(_ json: String) throws -> AgentRequest {
        try Array(json.utf8).withUnsafeBytes { bytes throws(AgentRefusal) in try AgentRequest(json: bytes) }
    }
}
