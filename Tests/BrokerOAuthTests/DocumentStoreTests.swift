import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation
import Testing

@Suite("Documents across restarts")
struct DocumentStoreTests {
    private static let partition = Partition(uid: 1000)

    /// A vault, and successive brokers that use it.
    private func withVault(_ body: (ProviderBed, Vault) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "documents-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let vault = try await Vault.open(in: folder)
        try await withProvider { bed async throws in try await body(bed, vault) }
        await vault.close()
    }

    /// The provider layer after a start.
    private func started(_ bed: ProviderBed, _ vault: Vault) -> OAuthProvider {
        OAuthProvider(
            http: bed.http, clock: bed.clock, proofs: testProofSigner(),
            documents: DocumentStore(vault: vault, partition: Self.partition))
    }

    private func down(_ bed: ProviderBed) {
        for endpoint in ScriptedProvider.Endpoint.allCases { bed.provider.on(endpoint) { _ in .close } }
    }

    @Test("a fresh document is used after a restart without a request")
    func fresh() async throws {
        try await withVault { bed, vault in
            let first = try await started(bed, vault).metadata(of: bed.provider.authority)
            let second = try await started(bed, vault).metadata(of: bed.provider.authority)
            #expect(first == second)
            #expect(bed.provider.requests(to: .discovery).count == 1)
        }
    }

    @Test("an expired document is used at once and revalidated in the background")
    func expired() async throws {
        try await withVault { bed, vault in
            bed.provider.on(.discovery) { request in
                request.headers["if-none-match"] == "\"v1\""
                    ? .empty(304) : .json(.object(bed.provider.discoveryDocument), headers: [("ETag", "\"v1\"")])
            }
            _ = try await started(bed, vault).metadata(of: bed.provider.authority)
            bed.clock.advance(bySeconds: 7200)
            let oauth = started(bed, vault)
            _ = try await oauth.metadata(of: bed.provider.authority)
            try await eventually("the provider is asked") { bed.provider.requests(to: .discovery).count == 2 }
            #expect(bed.provider.requests(to: .discovery).last?.headers["if-none-match"] == "\"v1\"")
        }
    }

    @Test(
        "without network, metadata of the last run is used indefinitely, keys for refreshes of one day only"
    )
    func offline() async throws {
        try await withVault { bed, vault in
            let before = started(bed, vault)
            let metadata = try await before.metadata(of: bed.provider.authority)
            let token = Secret(bed.provider.identity.sign(bed.goodClaims))
            _ = try await before.verify(
                idToken: token, against: .init(clientID: "app", nonce: "n-1"), at: metadata)
            down(bed)
            bed.clock.advance(bySeconds: 100 * 86_400)
            let after = started(bed, vault)
            #expect(try await after.metadata(of: bed.provider.authority) == metadata)
            let later = Secret(bed.provider.identity.sign(bed.goodClaims))
            let failure = await bed.failure {
                try await after.verify(idToken: later, against: .init(clientID: "app", nonce: "n-1"), at: metadata)
            }
            #expect(failure?.withoutText == .offline(""))
        }
    }

    @Test("a provider with only the document of RFC 8414 is found without network, too")
    func offlineAuthorizationServer() async throws {
        try await withVault { bed, vault in
            bed.provider.on(.discovery) { _ in .empty(404) }
            bed.provider.on(.authorizationServerMetadata) { _ in .json(.object(bed.provider.discoveryDocument)) }
            let metadata = try await started(bed, vault).metadata(of: bed.provider.authority)
            down(bed)
            #expect(try await started(bed, vault).metadata(of: bed.provider.authority) == metadata)
        }
    }

    @Test("a stored document that is no longer valid is ignored")
    func unfit() async throws {
        try await withVault { bed, vault in
            let record = ProviderDocumentRecord(
                name: "\(bed.provider.issuer) \(bed.provider.issuer)/.well-known/openid-configuration",
                body: #"{"issuer":"https://evil.example"}"#,
                entityTag: nil, lastModified: nil, lifetime: 3600, fetchedAt: bed.clock.now)
            let sealed = try vault.seal(record, secret: nil, in: Self.partition).sealed
            try await vault.commit(VaultChange(in: Self.partition, puts: [sealed]))
            let metadata = try await started(bed, vault).metadata(of: bed.provider.authority)
            #expect(metadata.issuer == bed.provider.issuer)
        }
    }

    @Test("a document that the provider reports as gone is deleted")
    func gone() async throws {
        try await withVault { bed, vault in
            _ = try await started(bed, vault).metadata(of: bed.provider.authority)
            bed.provider.on(.discovery) { _ in .empty(404) }
            bed.clock.advance(bySeconds: 60 * 86_400)
            for _ in 1...2 {
                let failure = await bed.failure {
                    try await started(bed, vault).metadata(of: bed.provider.authority)
                }
                #expect(failure?.withoutText == .invalidResponse(status: 404, ""))
            }
            #expect(try vault.loadAll(ProviderDocumentRecord.self, in: Self.partition).isEmpty)
        }
    }

    @Test("the number and the size of stored documents are limited")
    func bounded() async throws {
        try await withVault { bed, vault in
            let oauth = started(bed, vault)
            for number in 0..<(DocumentStore.maximumDocuments + 3) {
                let issuer = bed.provider.issuer + "/\(number)"
                bed.provider.on(path: "/\(number)/.well-known/openid-configuration") { _ in
                    .json(.object(bed.provider.discoveryDocument.merging(["issuer": .string(issuer)]) { $1 }))
                }
                bed.clock.advance(bySeconds: 1)
                _ = try await oauth.metadata(of: try Authority(parsing: issuer, allowHTTPLoopback: true))
            }
            var kept = try vault.loadAll(ProviderDocumentRecord.self, in: Self.partition).map(\.record.name)
            #expect(kept.count == DocumentStore.maximumDocuments)
            #expect(!kept.contains { $0.hasSuffix("/0/.well-known/openid-configuration") })
            bed.provider.configure { behaviour in
                behaviour.metadata = ["padding": .string(String(repeating: "x", count: DocumentStore.largestDocument))]
            }
            _ = try await oauth.metadata(of: bed.provider.authority)
            kept = try vault.loadAll(ProviderDocumentRecord.self, in: Self.partition).map(\.record.name)
            #expect(!kept.contains(bed.provider.issuer + "/.well-known/openid-configuration"))
        }
    }
}
