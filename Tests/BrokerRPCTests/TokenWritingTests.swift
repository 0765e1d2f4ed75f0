import BrokerRPC
import BrokerValues
import Testing

@Suite("The token's answer")
struct TokenWritingTests {
    private var account = Account(
        id: "1", username: "ann", name: "A\"nn\u{1}", environment: "e", tenantId: "t", homeAccountId: "h",
        authority: "https://e", claims: ["sub": "s"])

    init() {
        account.tenantProfiles = [
            TenantProfile(
                tenantId: "t", authority: "https://e/t", username: "ann", name: "Ann", isHomeTenant: true,
                claims: ["tid": "t"])
        ]
    }

    private func write(extended: NumericDate?, idToken: String?, type: TokenType = .bearer) -> [UInt8] {
        var writer = JSONWriter()
        var facts = Token()
        facts.tokenType = type
        facts.expiresOn = 10
        facts.extendedExpiresOn = extended
        facts.scopes = ["a", "b"]
        facts.account = account
        facts.authority = "https://e"
        (facts.fromCache, facts.extendedLifetime, facts.persisted) = (true, true, false)
        facts.rejected = extended != nil
        facts.renewable = extended == nil
        writer.beginToken(facts, correlationID: "c")
        if extended != nil {
            // As in token.watch.
            writer.key("watch")
            writer.string("w1")
        }
        Array("to\"k\\en".utf8).withUnsafeBytes { writer.accessToken(type, $0) }
        if let idToken { Array(idToken.utf8).withUnsafeBytes { writer.idToken($0) } }
        writer.endObject()
        return writer.bytes
    }

    @Test("a token has exactly the members of the protocol's Token")
    func members() throws {
        guard case .object(let all) = try JSONReader.read(write(extended: 20, idToken: "i")) else {
            Issue.record("not an object")
            return
        }
        #expect(all.map(\.name).sorted() == Token.members.map(\.name).sorted())
        guard case .object(let few) = try JSONReader.read(write(extended: nil, idToken: nil)) else {
            Issue.record("not an object")
            return
        }
        #expect(few.map(\.name).sorted() == Token.members.filter(\.isRequired).map(\.name).sorted())
    }

    @Test("a client reads the written token", arguments: TokenType.allCases)
    func read(type: TokenType) throws {
        let token = try Token(reading: try JSONReader.read(write(extended: 20, idToken: "i", type: type)))
        #expect(token.accessToken == "to\"k\\en")
        #expect(token.authorizationHeader == "\(type.rawValue) to\"k\\en")
        #expect(token.tokenType == type)
        #expect(token.expiresOn == 10)
        #expect(token.extendedExpiresOn == 20)
        #expect(token.scopes == ["a", "b"])
        #expect(token.account == account)
        #expect(token.idToken == "i")
        #expect(token.authority == "https://e")
        #expect(token.correlationId == "c")
        #expect(token.fromCache && token.extendedLifetime && !token.persisted)
    }
}
