import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("A vault of many users")
struct ManyPartitionsTests {
    @Test("the keys of a thousand users take few memory mappings")
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

    @Test("a user with many writes delays others by one write, because users take turns")
    func turns() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let written = Recorder<UInt32>()
                let (isHeld, isFree) = (Gate(), Gate())
                func write(_ uid: UInt32, _ number: Int, then: @escaping @Sendable () -> Void = {}) throws -> Task<
                    Void, any Error
                > {
                    let partition = Partition(uid: uid)
                    let record = AccountRecord.numbered(number)
                    let change = VaultChange(
                        in: partition, puts: [try vault.seal(record, secret: nil, in: partition).sealed])
                    // It runs until it waits for its turn.
                    return Task.immediate {
                        try await vault.commit(change) {
                            written.add(uid)
                            then()
                        }
                    }
                }
                let first = try write(2_000, 0) {
                    isHeld.open()
                    isFree.block()
                }
                await isHeld.wait()
                var tasks = try (1...20).map { try write(2_000, $0) }
                tasks.append(try write(2_001, 0))
                tasks.append(try write(2_002, 0))
                isFree.open()
                for task in [first] + tasks { try await task.value }
                #expect(written.all.prefix(4) == [2_000, 2_000, 2_001, 2_002])
                #expect(written.all.count == 23)
            }
        }
    }
}

extension AccountRecord {
    fileprivate static func numbered(_ number: Int) -> AccountRecord {
        var account = Sample.account()
        account.username = "user-\(number)"
        return account
    }
}
