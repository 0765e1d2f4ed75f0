import BrokerValues
import Testing

@Suite("Challenges of resource servers")
struct ChallengeTests {
    private func read(_ header: String) throws -> ResourceChallenge { try ResourceChallenge(header) }

    @Test("several challenges, quoted and bare values, token68 and any number of commas are parsed")
    func grammar() throws {
        let header =
            #"Negotiate, Basic realm="a, b", , NTLM TlRMTVNTUAAB==, Bearer realm="say \"hi\"" , error=invalid_token,scope = "x y","#
        let all = try AuthenticationChallenge.read(header)
        #expect(all.map(\.scheme) == ["Negotiate", "Basic", "NTLM", "Bearer"])
        #expect(all[1]["realm"] == "a, b" && all[2].token68 == "TlRMTVNTUAAB==" && all[2].parameters.isEmpty)
        #expect(all[3]["realm"] == #"say "hi""# && all[3]["error"] == "invalid_token" && all[3]["scope"] == "x y")
    }

    @Test("missing commas, missing quotation marks and joined headers are tolerated")
    func lenient() throws {
        let all = try AuthenticationChallenge.read(
            "Basic realm=x\r\nbearer  error=\"insufficient_scope\" scope=mail.read max_age=60")
        #expect(all.map(\.scheme) == ["Basic", "bearer"])
        #expect(all[1]["scope"] == "mail.read" && all[1]["MAX_AGE".lowercased()] == "60")
    }

    @Test("scopes of all challenges are combined, except those of an invalid token")
    func scopes() throws {
        #expect(
            try read(#"Bearer error="insufficient_scope", scope="mail.read mail.send""#).scopes == [
                "mail.read", "mail.send",
            ])
        #expect(try read(#"Bearer scope="a b a", DPoP scope="b c""#).scopes == ["a", "b", "c"])
        let plain = try read(#"Bearer error="invalid_token", scope="a b", error_description="expired""#)
        #expect(plain.scopes.isEmpty && plain.claims == nil && plain.stepUp == nil && plain.resource == nil)
        #expect(try read("Bearer").scopes.isEmpty)
    }

    @Test("RFC 9470: acr_values and max_age are read")
    func stepUp() throws {
        let header =
            #"Bearer error="insufficient_user_authentication", error_description="x", acr_values="gold silver", max_age="5""#
        let stepUp = try #require(try read(header).stepUp)
        #expect(stepUp.acrValues == ["gold", "silver"] && stepUp.maxAge == 5)
        #expect(stepUp.claims == #"{"id_token":{"acr":{"essential":true,"values":["gold","silver"]}}}"#)
        #expect(try read(#"Bearer error="insufficient_user_authentication""#).stepUp?.acrValues == [])
        #expect(try read("Bearer max_age=0").stepUp?.maxAge == 0)
    }

    @Test("Entra's claims are read as JSON and in base64 of either alphabet")
    func claims() throws {
        let json = #"{"access_token":{"nbf":{"essential":true,"value":"1700000000"}}}"#
        let base64 = "eyJhY2Nlc3NfdG9rZW4iOnsibmJmIjp7ImVzc2VudGlhbCI6dHJ1ZSwidmFsdWUiOiIxNzAwMDAwMDAwIn19fQ=="
        for value in [
            #""\#(base64)""#, base64, #""\#(base64.dropLast(2))""#, #""\#(json.replacing("\"", with: "\\\""))""#,
        ] {
            let header =
                #"Bearer realm="", authorization_uri="https://login.example/authorize", error="insufficient_claims", claims=\#(value)"#
            #expect(try read(header).claims == json, "\(value)")
        }
    }

    @Test("RFC 9728: the resource is derived from the metadata's address")
    func resource() throws {
        let wellKnown = "/.well-known/oauth-protected-resource"
        let api = try read(#"Bearer resource_metadata="https://API.example\#(wellKnown)/v1""#)
        #expect(api.resource == "https://API.example/v1")
        #expect(api.isFrom("https://api.example/v1") && api.isFrom("https://api.example/v1/"))
        #expect(!api.isFrom("https://api.example/V1") && !api.isFrom("https://api.example") && !api.isFrom(""))
        #expect(
            try read(#"Bearer resource_metadata="https://api.example\#(wellKnown)""#).isFrom("https://api.example/"))
        for other in ["https://api.example/meta", "https://api.example\(wellKnown)ly", wellKnown, "https:///x", "x"] {
            #expect(try read(#"Bearer resource_metadata="\#(other)""#).resource == nil)
        }
    }

    @Test(
        "an invalid challenge is refused with its position, truncated",
        arguments: [
            ("", "is empty"), (" , ", "is empty"), ("\u{1}", "is invalid"), ("=x", "is invalid"),
            (#"Bearer scope="a"#, "is invalid"),
            (#"Basic realm="x""#, #"asks for "Basic""#), (#"Bearer claims="no json""#, "claims"),
            (#"Bearer max_age="soon""#, "max_age"), ("Bearer max_age=-1", "max_age"),
            (#"Bearer scope="a\"b""#, "scope"), (#"Bearer acr_values="é""#, "acr_values"),
            ("Bearer scope=\"\(String(repeating: "x", count: 40_000))\"", "32768"),
        ])
    func unreadable(header: String, words: String) throws {
        let error = #expect(throws: ResourceChallenge.Unreadable.self) { try ResourceChallenge(header) }
        #expect(error?.problem.contains(words) == true, "\(String(describing: error))")
        #expect((error?.problem.count ?? 0) < 200)
    }

    @Test("excessive challenges and parameters are refused in linear time")
    func many() {
        #expect(throws: AuthenticationChallenge.Malformed.self) {
            try AuthenticationChallenge.read(String(repeating: "a, ", count: 33))
        }
        #expect(throws: AuthenticationChallenge.Malformed.self) {
            try AuthenticationChallenge.read("a " + String(repeating: "b=c,", count: 65))
        }
    }

    @Test("the request's and the challenge's claims are merged, and the challenge wins")
    func merged() {
        let merged = ClaimsText.merged(
            #"{"id_token":{"acr":{"value":"a"}},"access_token":{"x":null}}"#,
            #"{"id_token":{"acr":{"value":"b"},"y":1}}"#)
        #expect(
            merged.flatMap { JSONObject(json: $0.utf8) } == [
                "access_token": ["x": .null], "id_token": ["acr": ["value": "b"], "y": 1],
            ])
        #expect(ClaimsText.merged(nil, "{}") == "{}" && ClaimsText.merged("{}", nil) == "{}")
        #expect(ClaimsText.merged(nil, nil) == nil)
    }
}
