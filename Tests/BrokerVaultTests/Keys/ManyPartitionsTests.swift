import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("A vault of many users")
struct ManyPartitionsTests {
    @Test("the keys of a thousand users take few of the process's mappings")
    func mappingsOfKeys() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let before = try mappings()
                for uid in 2_000..<3_000 as Range<UInt32> {
                    _ = try vault.seal(Sample.account(), secret: nil, in: Partition(uid: uid))
                }
                #expect(try mappings() - before < 1_000)
            }
        }
    }
}
