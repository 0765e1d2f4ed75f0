import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Records of the cache")
struct RecordTests {
    private static let owner = TokenOwner(
        group: GroupID(rawValue: "group:g"), clientID: "c", homeAccountID: HomeAccountID(rawValue: "h"),
        environment: "e")

    private func token(
        realm: String = "r", scopes: [String] = ["A", "b"], type: TokenType = .bearer, expiresOn: NumericDate = 1
    ) -> AccessTokenRecord {
        AccessTokenRecord(
            owner: Self.owner, realm: realm, scopes: scopes, tokenType: type, authority: "https://e",
            expiresOn: expiresOn,
            cachedAt: 0)
    }

    @Test("the numbers of record kinds never change: every vault contains them")
    func kinds() {
        let numbers: [RecordKind: UInt8] = [
            .account: 1, .accessToken: 2, .refreshToken: 3, .idToken: 4, .appMetadata: 5, .signOut: 6, .app: 7,
            .providerDocument: 8, .proofKey: 9, .grant: 10, .auditBlock: 11, .auditHead: 12,
            .partitionOwner: 13,
        ]
        for kind in RecordKind.allCases { #expect(numbers[kind] == kind.rawValue) }
    }

    @Test("a token replaces only the one with the same realm, type and scopes")
    func tokenKeys() {
        #expect(token(scopes: ["B", "a"], expiresOn: 9).key == token().key)
        #expect(token(realm: "s").key != token().key)
        #expect(token(type: .dpop).key != token().key)
        #expect(token(scopes: ["a"]).key != token().key)
        #expect(token(scopes: ["a"]).bucket == token().bucket)
    }

    @Test("an app's record contains everything of its registration except the secret")
    func appRecord() throws {
        let app = AppRegistration(
            name: "mail", clientID: "c", authority: try Authority(parsing: "https://e", allowHTTPLoopback: false),
            group: "g", scopes: ["s"], redirectURI: "http://127.0.0.1/", executables: ["/x"], units: ["u"],
            sandboxIDs: ["i"], clientSecret: Secret("hunter2"))
        let text = String(decoding: try JSONEncoder().encode(AppRecord(app)), as: UTF8.self)
        #expect(!text.contains("hunter2"))
        #expect(AppRecord(app).isConfidential)
        let back = try JSONDecoder().decode(AppRecord.self, from: Data(text.utf8))
        #expect(back.key == RecordKey(kind: .app, bucket: [], item: ["mail"]))
        #expect(back.scopes == ["s"] && back.group == "g" && back.units == ["u"] && back.authority == "https://e")
    }

    @Test("an app record of an earlier version is read, and written in its form")
    func writtenAppRecord() throws {
        let text = """
            {"authority":"https:\\/\\/e","clientID":"c","executables":["\\/x"],"group":"g","isConfidential":true,\
            "name":"mail","redirectURI":"http:\\/\\/127.0.0.1\\/","sandboxIDs":["i"],"scopes":["s"],"units":["u"]}
            """
        let record = try JSONDecoder().decode(AppRecord.self, from: Data(text.utf8))
        #expect(
            record.description
                == AppDescription(
                    name: "mail", clientID: "c", group: "g", scopes: ["s"], redirectURI: "http://127.0.0.1/",
                    executables: ["/x"], units: ["u"], sandboxIDs: ["i"]))
        #expect(record.authority == "https://e" && record.isConfidential && !record.isInstanceAware)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(record), as: UTF8.self) == text)
        let aware = text.replacing("true,", with: "true,\"isInstanceAware\":true,")
        #expect(try JSONDecoder().decode(AppRecord.self, from: Data(aware.utf8)).isInstanceAware)
    }

    @Test("every vault error is a sentence for people")
    func errorTexts() {
        let errors: [VaultError] = [
            .full("Full."), .io("Not read."), .damaged("Broken."), .newerFormat(found: 2, supported: 1),
            .wrongKey("Wrong."), .keyUnavailable("Gone."), .notPrivate("Open."), .inUse("Busy."), .locked,
            .recordDamaged, .wrongPassphrase, .awaitingKey("Wait."), .unsuitable("Short."),
        ]
        for error in errors { #expect(error.description.hasSuffix(".")) }
    }
}
