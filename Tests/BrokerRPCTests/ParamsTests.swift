import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Params")
struct ParamsTests {
    private func refusal<M: BrokerMethod>(_: M.Type, _ params: String) -> RPCError? {
        do {
            let node = try JSONReader.read(params.utf8)
            _ = try M.read(Call(id: RequestID(1), method: M.name, params: node))
            return nil
        } catch {
            return error as? RPCError
        }
    }

    private func text(_ params: JSONObject) -> String {
        var writer = JSONWriter()
        writer.value(.object(params))
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("every method accepts its required params", arguments: MethodRegistry.methods.map { $0.name })
    func takesRequired(name: String) throws {
        let method = try #require(MethodRegistry.methods.first { $0.name == name })
        let error = refusal(method, text(requiredParams[name] ?? [:]))
        #expect(error?.message == nil)
    }

    @Test("every method names an unknown param", arguments: MethodRegistry.methods.map { $0.name })
    func namesUnknown(name: String) throws {
        let method = try #require(MethodRegistry.methods.first { $0.name == name })
        let params = (requiredParams[name] ?? [:]).merging(["scope": "x"]) { $1 }
        let refused = refusal(method, text(params))
        let error = try #require(refused)
        #expect(error.code == -32602)
        #expect(error.data?.kind == .invalidParameter)
        #expect(error.data?.field == "scope")
        #expect(error.message.contains("\"scope\""))
    }

    @Test("every object in a param refuses unknown members, also one that a result has as well")
    func strictInside() throws {
        let document = OpenRPCDocument.json.objectValue
        let components = try #require(document?["components"]?.objectValue?["schemas"]?.objectValue)
        func check(_ schema: JSONValue, _ place: String) {
            if let elements = schema.arrayValue { return elements.forEach { check($0, place) } }
            guard let object = schema.objectValue else { return }
            if object["properties"] != nil { #expect(object["additionalProperties"] == false, "\(place)") }
            let name = object["$ref"]?.stringValue?.split(separator: "/").last
            if let named = name.flatMap({ components[String($0)] }) { check(named, place) }
            for inner in object.values { check(inner, place) }
        }
        func checkAll<M: BrokerMethod>(_: M.Type) {
            for member in M.Params.members { check(.object(member.schema.json), "\(M.name) \(member.name)") }
        }
        for method in MethodRegistry.methods { checkAll(method) }
    }

    @Test("every method names a missing param", arguments: MethodRegistry.methods.map { $0.name })
    func namesMissing(name: String) throws {
        let method = try #require(MethodRegistry.methods.first { $0.name == name })
        for missing in (requiredParams[name] ?? [:]).keys {
            let params = (requiredParams[name] ?? [:]).filter { $0.key != missing }
            let refused = refusal(method, text(params))
            let error = try #require(refused, "\(missing) may be left out of \(name)")
            #expect(error.code == -32602)
            #expect(error.data?.field == missing)
        }
    }

    @Test("every param of every method is refused by name when it has the wrong type")
    func namesMistyped() throws {
        func check<M: BrokerMethod>(_: M.Type) throws {
            for member in M.Params.members {
                // No param of any method accepts an array of arrays.
                let params = (requiredParams[M.name] ?? [:]).merging([member.name: [[1]]]) { $1 }
                let error = try #require(refusal(M.self, text(params)), "\(M.name) took a wrong \(member.name)")
                #expect(error.code == -32602)
                #expect(error.data?.field?.hasPrefix(member.name) == true)
            }
        }
        for method in MethodRegistry.methods { try check(method) }
    }

    @Test(
        "wrong params of token.acquireSilent are refused with their path",
        arguments: [
            (#"[]"#, "scopes"), (#"["mail"]"#, nil), (#"7"#, nil), (#"null"#, "scopes"),
            (#"{"app":"  ","scopes":["x"]}"#, "app"),
            (#"{"app":"a","scopes":["x",3]}"#, "scopes[1]"), (#"{"app":"a","scopes":"x"}"#, "scopes"),
            (#"{"app":"a","scopes":[""]}"#, "scopes[0]"), (#"{"app":"a","scopes":["  "]}"#, "scopes[0]"),
            (#"{"app":"a","scopes":["a\nb"]}"#, "scopes[0]"), (#"{"app":"a","scopes":["a\"b"]}"#, "scopes[0]"),
            (#"{"app":"a","scopes":["é"]}"#, "scopes[0]"), (#"{"app":"","scopes":["x"]}"#, "app"),
            (#"{"app":"a\u0000","scopes":["x"]}"#, "app"), (#"{"scopes":["x"]}"#, "app"),
            (#"{"clientId":"c","scopes":["x"]}"#, "authority"),
            (#"{"clientId":" ","authority":"https://a.example","scopes":["x"]}"#, "clientId"),
            (#"{"authority":"https://a.example","scopes":["x"]}"#, "clientId"),
            (#"{"app":"a","clientId":"c","authority":"https://a.example","scopes":["x"]}"#, "clientId"),
            (#"{"app":"a","scopes":["x"],"account":{}}"#, "account"),
            (#"{"app":"a","scopes":["x"],"account":{"id":"1","username":"u"}}"#, "account"),
            (#"{"app":"a","scopes":["x"],"account":{"name":"u"}}"#, "account.name"),
            (#"{"app":"a","scopes":["x"],"account":{"id":5}}"#, "account.id"),
            (#"{"app":"a","scopes":["x"],"account":"1"}"#, "account"),
            (#"{"app":"a","scopes":["x"],"minimumLifetime":-1}"#, "minimumLifetime"),
            (#"{"app":"a","scopes":["x"],"minimumLifetime":86401}"#, "minimumLifetime"),
            (#"{"app":"a","scopes":["x"],"minimumLifetime":1.5}"#, "minimumLifetime"),
            (#"{"app":"a","scopes":["x"],"minimumLifetime":1e99}"#, "minimumLifetime"),
            (#"{"app":"a","scopes":["x"],"minimumLifetime":"60"}"#, "minimumLifetime"),
            (#"{"app":"a","scopes":["x"],"forceRefresh":1}"#, "forceRefresh"),
            (#"{"app":"a","scopes":["x"],"tokenType":"bearer"}"#, "tokenType"),
            (#"{"app":"a","scopes":["x"],"correlationId":""}"#, "correlationId"),
            (#"{"app":"a","scopes":["x"],"correlationId":"a b"}"#, "correlationId"),
            (#"{"app":"a","scopes":["x"],"claims":"nope"}"#, "claims"),
            (#"{"app":"a","scopes":["x"],"claims":"[]"}"#, "claims"),
            (#"{"app":"a","scopes":["x"],"claims":"W10="}"#, "claims"),
            (#"{"app":"a","scopes":["x"],"resource":"api"}"#, "resource"),
            (#"{"app":"a","scopes":["x"],"resource":"https:"}"#, "resource"),
            (#"{"app":"a","scopes":["x"],"resource":"/api:x"}"#, "resource"),
            (#"{"app":"a","scopes":["x"],"resource":"https://a.example/ b"}"#, "resource"),
            (#"{"app":"a","scopes":["x"],"resource":["https://a.example","https://a.example/#f"]}"#, "resource[1]"),
            (#"{"app":"a","scopes":["x"],"clientCapabilities":["c p"]}"#, "clientCapabilities[0]"),
            (#"{"app":"a","scopes":["x"],"maxAge":5}"#, "maxAge"),
            (#"{"app":"a","scopes":["x"],"app":"b"}"#, "app"),
            (#"{"app":"a","scopes":["x"],"prompt":"login"}"#, "prompt"),
        ] as [(String, String?)])
    func silent(params: String, field: String?) throws {
        let error = try #require(refusal(AcquireTokenSilent.self, params))
        #expect(error.code == -32602)
        #expect(error.data?.kind == .invalidParameter)
        #expect(error.data?.field == field)
    }

    @Test(
        "wrong params of token.acquireInteractive are refused with their path",
        arguments: [
            (#""forceRefresh":true"#, "forceRefresh"), (#""timeout":0"#, "timeout"), (#""timeout":3601"#, "timeout"),
            (#""prompt":"Login""#, "prompt"), (#""presentation":"popup""#, "presentation"),
            (#""extraQueryParameters":{"a":1}"#, "extraQueryParameters.a"),
            (#""extraQueryParameters":{"a":"1","a":"2"}"#, "extraQueryParameters.a"),
            (#""extraQueryParameters":{"":"1"}"#, "extraQueryParameters"),
            (#""maxAge":-1"#, "maxAge"), (#""acrValues":["a b"]"#, "acrValues[0]"), (#""acrValues":"a""#, "acrValues"),
            (#""strictLoginHint":1"#, "strictLoginHint"), (#""pushedAuthorization":"no""#, "pushedAuthorization"),
            (#""extraScopesToConsent":[null]"#, "extraScopesToConsent[0]"), (#""loginHint":"a\rb""#, "loginHint"),
        ])
    func interactive(member: String, field: String) throws {
        let error = try #require(refusal(AcquireTokenInteractive.self, #"{"app":"a","scopes":["x"],\#(member)}"#))
        #expect(error.code == -32602)
        #expect(error.data?.field == field)
    }

    @Test("absent, null and the default are equivalent")
    func nulls() throws {
        let text = #"{"app":"a","scopes":[],"account":null,"timeout":null,"presentation":null,"prompt":null}"#
        let params = try AcquireTokenInteractive.Params(reading: try JSONReader.read(text.utf8))
        #expect(params.timeout == 300)
        #expect(params.presentation == .client)
        #expect(params.account == nil)
    }

    @Test("a resource is one URI or several, and is written in the form that was read")
    func resource() throws {
        for (resource, uris) in [
            (#""https://api.example/""#, ["https://api.example/"]),
            (#"["api://x","urn:y"]"#, ["api://x", "urn:y"]), ("[]", []),
        ] {
            let text = #"{"app":"a","scopes":["x"],"resource":\#(resource)}"#
            let params = try AcquireTokenSilent.Params(reading: try JSONReader.read(text.utf8))
            #expect(params.resources == uris)
            var writer = JSONWriter()
            ResourceList(params.resources).write(to: &writer)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == resource)
        }
    }

    @Test(
        "the claims of a challenge are accepted in base64 of either alphabet",
        arguments: [
            "eyJhY2Nlc3NfdG9rZW4iOnsiYSI6Ij8/Pj4+In19", "eyJhY2Nlc3NfdG9rZW4iOnsiYSI6Ij8_Pj4-In19",
            "eyJhY2Nlc3NfdG9rZW4iOnsiYSI6Ij8/Pj4+In19IA==", "eyJhY2Nlc3NfdG9rZW4iOnsiYSI6Ij8_Pj4-In19IA",
        ])
    func challenge(claims: String) throws {
        let text = #"{"app":"a","scopes":["x"],"claims":"\#(claims)"}"#
        let params = try AcquireTokenSilent.Params(reading: try JSONReader.read(text.utf8))
        let json = try #require(params.claims)
        #expect(json.trimmingCharacters(in: .whitespaces) == #"{"access_token":{"a":"??>>>"}}"#)
    }

    @Test("claims are accepted as an object and as its text")
    func claims() throws {
        for claims in [
            #"{"id_token":{"acr":{"essential":true}}}"#, #""{\"id_token\":{\"acr\":{\"essential\":true}}}""#,
        ] {
            let text = #"{"app":"a","scopes":["x"],"claims":\#(claims)}"#
            let params = try AcquireTokenSilent.Params(reading: try JSONReader.read(text.utf8))
            #expect(params.claims == #"{"id_token":{"acr":{"essential":true}}}"#)
        }
    }

    @Test("a refusal has the request's own correlation id, unless that is invalid")
    func correlation() {
        let known = refusal(AcquireTokenSilent.self, #"{"correlationId":"abc-1","nonsense":1}"#)
        #expect(known?.data?.correlationID == "abc-1")
        let wrong = refusal(AcquireTokenSilent.self, #"{"app":"a","scopes":[],"correlationId":"a\nb"}"#)
        #expect(wrong?.data?.field == "correlationId")
        #expect(wrong?.data?.correlationID == nil)
    }

    @Test("the broker reads the params that a client writes")
    func roundTrip() throws {
        var params = AcquireTokenInteractive.Params(
            .adHoc(clientID: "c", authority: "https://a.example"), scopes: ["x", "y"])
        params.account = .username("ann@example.org")
        params.claims = #"{"a":1}"#
        params.prompt = .selectAccount
        params.extraQueryParameters = ["a": "", "b": "ü\"\\"]
        params.presentation = .broker
        params.timeout = 5
        params.resources = ["https://a.example", "urn:b"]
        params.clientCapabilities = ["cp1"]
        params.maxAge = 0
        params.acrValues = ["c1", "c2"]
        params.isHintBinding = true
        params.pushesAuthorization = true
        let line = AcquireTokenInteractive.requestLine(id: 9, params)
        #expect(line.last == UInt8(ascii: "\n"))
        let call = try #require(line.dropLast().withUnsafeBytes { RequestLine($0) }.call)
        let read = try AcquireTokenInteractive.read(call).params
        #expect(call.id?.number == 9)
        #expect(read.selection == params.selection)
        #expect(read.scopes == params.scopes)
        #expect(read.account == params.account)
        #expect(read.claims == params.claims)
        #expect(read.prompt == params.prompt)
        #expect(read.extraQueryParameters == params.extraQueryParameters)
        #expect(read.presentation == params.presentation)
        #expect(read.timeout == params.timeout)
        #expect(read.resources == params.resources)
        #expect(read.clientCapabilities == params.clientCapabilities)
        #expect(read.maxAge == 0)
        #expect(read.acrValues == params.acrValues)
        #expect(read.isHintBinding && read.pushesAuthorization)
    }

    @Test("a challenge's scopes are checked in addition to the request's or the app's default ones")
    func reachOfChallenge() throws {
        var silent = AcquireTokenSilent.Params()
        silent.query.scopes = []
        silent.query.challenge = try ResourceChallenge("Bearer scope=\"x\"")
        #expect(silent.reach == .token(scopes: [], extra: ["x"], account: nil))
        var interactive = AcquireTokenInteractive.Params()
        interactive.query = silent.query
        interactive.interaction.extraScopesToConsent = ["y"]
        #expect(interactive.reach == .token(scopes: [], extra: ["y", "x"], account: nil))
    }

    @Test("a narrow request without scopes needs the person's identity, not the app's usual scopes")
    func reachOfIdentity() {
        var silent = AcquireTokenSilent.Params()
        silent.query.scopes = []
        silent.query.isNarrow = true
        #expect(silent.reach == .token(scopes: ["openid"], account: nil))
    }
}
