import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("The vault's failures are counted")
struct ErrorCountTests {
    @Test("each failed read or write is counted once, and successful ones are not")
    func counted() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.accessToken(), secret: "mine")
                _ = try vault.accessTokens()
                #expect(try vault.statistics().errors == 0)
                try edit(bed.file("vault.db"), "ALTER TABLE record RENAME TO gone")
                #expect(throws: VaultError.self) { try vault.accessTokens() }
                await #expect(throws: VaultError.self) {
                    try await vault.store(Sample.accessToken("another"), secret: "mine")
                }
                try edit(bed.file("vault.db"), "ALTER TABLE gone RENAME TO record")
                #expect(try vault.statistics().errors == 2)
                _ = try vault.accessTokens()
                #expect(try vault.statistics().errors == 2)
            }
        }
    }
}
