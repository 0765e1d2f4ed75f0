import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

@Suite("A partition that is erased while its user writes")
struct ErasedPartitionTests {
    private func put(_ client: String, in vault: Vault) throws -> VaultChange {
        let record = try vault.seal(Sample.refreshToken(client), secret: nil, in: Sample.me)
        return VaultChange(in: Sample.me, puts: [record.sealed])
    }

    @Test("refuses a record that was sealed before, and stays gone")
    func gone() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.account())
                let late = try put("late", in: vault)
                try await vault.erase(Sample.me)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                #expect(try vault.partitions().isEmpty)
            }
        }
    }

    @Test("accepts user records only once the new owner is stored, and log records at once")
    func withoutOwner() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.account())
                try await vault.erase(Sample.me)
                let late = try put("late", in: vault)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                #expect(try vault.partitions().isEmpty)
                try await vault.store(AuditHeadRecord(sequence: 0, isComplete: true, run: "", ends: [:]))
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                try await vault.store(PartitionOwnerRecord(account: "me"))
                try await vault.commit(late)
            }
        }
    }

    @Test("refuses such a record when it has new keys, and takes records that were sealed with these")
    func begunAgain() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                try await vault.store(Sample.account())
                let late = try put("late", in: vault)
                try await vault.erase(Sample.me)
                try await vault.store(PartitionOwnerRecord(account: "me"))
                let next = try put("next", in: vault)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                try await vault.commit(next)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                try await vault.replaceDataKeys(at: 1)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                try await vault.commit(next)
                #expect(
                    try vault.loadAll(RefreshTokenRecord.self, in: Sample.me).map(\.record.owner.clientID) == ["next"])
                #expect(try vault.statistics().quarantined == 0)
            }
        }
    }

    @Test("is not begun again by changes that waited behind the erasure")
    func waiting() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let stored = try await vault.store(Sample.account())
                let change = try put("late", in: vault)
                let (isHeld, isFree) = (Gate(), Gate())
                // Each runs until it waits for its turn.
                let first = Task.immediate {
                    try await vault.commit(VaultChange(in: Sample.other, deletes: [stored.record.key])) {
                        isHeld.open()
                        isFree.block()
                    }
                }
                await isHeld.wait()
                let erasure = Task.immediate { try await vault.erase(Sample.me) }
                let put = Task.immediate { try await vault.commit(change) }
                let delete = Task.immediate {
                    try await vault.commit(VaultChange(in: Sample.me, deletes: [stored.record.key]))
                }
                isFree.open()
                for task in [first, erasure, delete] { try await task.value }
                #expect(try await vaultError { try await put.value } == .erased)
                #expect(try vault.partitions().isEmpty)
            }
        }
    }

    @Test("refuses a record that was sealed before also after a lock")
    func locked() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let late = try put("late", in: vault)
                try await vault.store(Sample.account())
                try await vault.erase(Sample.me)
                vault.lock()
                #expect(try await vaultError { try await vault.commit(late) } == .locked)
                try await vault.unlock(passphrase: nil)
                #expect(try await vaultError { try await vault.commit(late) } == .erased)
                #expect(try vault.partitions().isEmpty)
            }
        }
    }
}
