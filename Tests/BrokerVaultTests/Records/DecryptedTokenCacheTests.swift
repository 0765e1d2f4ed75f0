import BrokerModel
import BrokerTestSupport
import BrokerVault
import Testing

/// Recently opened tokens are served from memory; only the timing may show it.
@Suite("The cache of decrypted tokens")
struct DecryptedTokenCacheTests {
    @Test("far more tokens than the cache holds are read correctly, in any order and repeatedly")
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

    /// Some are longer than the cache's limit, one is empty.
    private func secret(_ number: Int) -> Secret { Secret(String(repeating: "\(number) ", count: number * 8)) }

    @Test("a locked vault opens no token, not even a cached one")
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

    @Test("a record sealed with a new key, or for another place, is not served from the cache")
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

    @Test("nothing opens in a partition without keys")
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
