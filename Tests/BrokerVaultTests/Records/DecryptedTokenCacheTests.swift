import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

/// What was opened lately is answered from memory; nobody may notice but for the time it takes.
@Suite("Tokens that are asked for again")
struct DecryptedTokenCacheTests {
    @Test("far more tokens than are kept come out right, in any order and again and again")
    func many() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let tokens = try (0..<300).map { number in
                    (
                        number,
                        try vault.seal(Sample.accessToken("client-\(number)"), secret: secret(number), in: Sample.me)
                    )
                }
                for _ in 0..<3 {
                    for (number, token) in tokens.shuffled() {
                        for _ in 0...(number % 3) { #expect(try vault.secret(of: token.sealed) == secret(number)) }
                    }
                    vault.forgetOpened()
                }
            }
        }
    }

    /// Some are longer than what is kept, one is empty.
    private func secret(_ number: Int) -> Secret { Secret(String(repeating: "\(number) ", count: number * 8)) }

    @Test("a locked vault opens none, also of those that were opened before")
    func locked() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let token = try await vault.store(Sample.accessToken(), secret: "opened")
                #expect(try vault.secret(of: token.sealed) == Secret("opened"))
                vault.lock()
                #expect(throws: VaultError.locked) { try vault.secret(of: token.sealed) }
                try await vault.unlock(passphrase: nil)
                #expect(try vault.secret(of: token.sealed) == Secret("opened"))
            }
        }
    }

    @Test("what is sealed with a new key, or for another place, is another record, and must open by itself")
    func others() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let token = try await vault.store(Sample.accessToken(), secret: "opened")
                #expect(try vault.secret(of: token.sealed) == Secret("opened"))
                let moved = SealedRecord(
                    partition: Sample.me, kind: .accessToken, rowKey: token.sealed.rowKey, bucketKey: [1],
                    box: token.sealed.box)
                #expect(throws: VaultError.recordDamaged) { try vault.secret(of: moved) }
                try await vault.replaceDataKeys(at: 10)
                #expect(try vault.secret(of: token.sealed) == Secret("opened"))
                #expect(try vault.accessTokens() == ["opened"])
            }
        }
    }

    @Test("in a partition whose keys are gone nothing opens")
    func erased() async throws {
        try await withVaultBed { bed in
            try await bed.use { vault in
                let token = try await vault.store(Sample.accessToken(), secret: "opened", in: Sample.other)
                #expect(try vault.secret(of: token.sealed) == Secret("opened"))
                try await vault.erase(Sample.other)
                #expect(throws: VaultError.recordDamaged) { try vault.secret(of: token.sealed) }
            }
        }
    }
}
