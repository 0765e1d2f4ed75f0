import BrokerModel
import BrokerTestSupport
import BrokerTokenCache
import BrokerValues
import Foundation
import Logging

/// The cache alone, over a real vault in a folder of its own.
final class CacheBed: Sendable {
    let vault: FaultyVault
    let index: CacheIndex
    let writer: CacheWriter
    private let clock = ManualClock(now: Sample.now)
    private let folder: String

    init(
        _ limits: CacheLimits = CacheLimits(), idle: CacheLimits = .idle
    ) async throws {
        folder = NSTemporaryDirectory() + "cache-\(UUID().uuidString)"
        vault = try await FaultyVault.open(in: folder)
        index = CacheIndex(vault: vault, limits: limits, idle: idle)
        writer = CacheWriter(
            vault: vault, index: index, clock: clock, retryInterval: { .seconds(5) }, log: .silent)
    }

    deinit {
        clock.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    func key(_ owner: TokenOwner) -> OwnerKey { .init(partition: Sample.partition, owner: owner) }

    /// A new index, as after a restart.
    func reread() -> CacheIndex { CacheIndex(vault: vault) }

    /// - Returns: whether the disk has it.
    func write(_ rows: [CacheChange.Row], deleting owner: TokenOwner? = nil) async -> Bool {
        do throws(VaultError) {
            let key = owner.map(key)
            return try await writer.write(in: Sample.partition) { index throws(VaultError) in
                var change = CacheChange(in: Sample.partition, rows)
                if let key { try change.deleteTokens(of: key, in: index) }
                return (change, ())
            }.isPersisted
        } catch {
            return false
        }
    }

    func row(_ draft: Draft, isPut: Bool) throws -> CacheChange.Row {
        func action<Record: VaultRecord>(_ record: Record) throws -> CacheChange.Action<Record> {
            let stored = try vault.seal(record, secret: Secret("secret"), in: Sample.partition)
            return isPut ? .put(stored) : .delete(stored)
        }
        let now = Sample.now
        switch draft {
        case .account(let owner, let realm):
            return .account(
                try action(
                    AccountRecord(
                        group: owner.group, homeAccountID: owner.homeAccountID, environment: owner.environment,
                        realm: realm, authority: "https://\(owner.environment)/\(realm)",
                        username: "\(owner.homeAccountID.rawValue) at \(realm)", tenantID: realm, createdAt: now)))
        case .signOut(let owner, let app):
            return .signOut(
                try action(
                    SignOutRecord(
                        group: owner.group, app: app, homeAccountID: owner.homeAccountID,
                        environment: owner.environment, since: now)))
        case .appMetadata(let owner, let family):
            return .appMetadata(
                try action(
                    AppMetadataRecord(
                        group: owner.group, clientID: owner.clientID, environment: owner.environment,
                        familyID: family)))
        case .accessToken(let owner, let realm, let scopes):
            return .accessToken(
                try action(
                    AccessTokenRecord(
                        owner: owner, realm: realm, scopes: scopes, tokenType: .bearer,
                        authority: "https://\(owner.environment)", expiresOn: now + 3600, cachedAt: now)))
        case .refreshToken(let owner, let family, let key):
            return .refreshToken(
                try action(
                    RefreshTokenRecord(
                        owner: owner, familyID: family, authority: "https://\(owner.environment)", scopes: ["a"],
                        cachedAt: now, keyThumbprint: key)))
        case .idToken(let owner, let realm):
            return .idToken(try action(IDTokenRecord(owner: owner, realm: realm, cachedAt: now)))
        case .proofKey(let owner, let thumbprint):
            return .proofKey(try action(ProofKeyRecord(owner: owner, thumbprint: thumbprint, createdAt: now)))
        }
    }

    /// All records of the tests' owners in the index, one line each, in its order.
    func contents(of index: CacheIndex) throws -> [String] {
        var lines: [String] = []
        func line(_ what: String, _ sealed: SealedRecord) { lines.append("\(what) \(sealed.rowKey) \(sealed.box)") }
        let group = GroupKey(partition: Sample.partition, group: Sample.app().effectiveGroup)
        let known = try index.loadAccounts(of: group)
        for entry in known.entries {
            line("account \(entry.isPrimary) \(entry.account)", entry.stored.sealed)
        }
        lines += known.deletion(of: nil).compactMap { row in
            guard case .signOut(let action) = row else { return nil }
            return "sign-out \(action.record) \(action.stored.sealed.box)"
        }.sorted()
        for client in ["client-1", "client-2", ""] {
            let key = ClientKey(
                partition: Sample.partition, group: group.group, clientID: client, environment: "id.example.org")
            lines.append("family of \(client): \(try index.loadMembership(of: key))")
            for person in ["alice", "bob"] {
                let tokens = try index.loadTokens(
                    of: self.key(
                        TokenOwner(
                            group: group.group, clientID: client,
                            homeAccountID: HomeAccountID(userID: person, tenantID: "home"),
                            environment: "id.example.org")))
                for token in tokens.accessTokens { line("access \(token.scopes.sorted())", token.stored.sealed) }
                for token in tokens.refreshTokens { line("refresh", token.sealed) }
                for (realm, token) in tokens.idTokens.sorted(by: { $0.key < $1.key }) { line("id \(realm)", token) }
                if let key = tokens.proofKey { line("key \(key.record.thumbprint)", key.sealed) }
            }
        }
        return lines
    }
}
