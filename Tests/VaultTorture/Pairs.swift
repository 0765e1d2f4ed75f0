import BrokerModel
import BrokerVault
import BrokerVaultSQLite
import Logging

/// Two records that are always written and removed together, like an access token and its rotated refresh token.
struct Pairs {
    static let slots = 8
    let vault: Vault
    let partition: Partition

    init(_ vault: Vault, partition: Partition = Partition(uid: 1000)) {
        self.vault = vault
        self.partition = partition
    }

    func owner(_ slot: Int) -> TokenOwner {
        TokenOwner(
            group: GroupID(rawValue: "group:torture"), clientID: "client-\(slot)",
            homeAccountID: HomeAccountID(subject: "subject-\(slot)", issuer: "https://id.example"),
            environment: "id.example")
    }

    func secret(_ slot: Int, _ value: Int64) -> Secret {
        Secret(String(repeating: "\(slot)/\(value) ", count: 500))
    }

    func write(_ value: Int64, to slot: Int) async throws {
        let access = AccessTokenRecord(
            owner: owner(slot), realm: "", scopes: ["scope"], tokenType: .bearer, authority: "https://id.example",
            expiresOn: value, cachedAt: value)
        let refresh = RefreshTokenRecord(
            owner: owner(slot), authority: "https://id.example", scopes: ["scope"], cachedAt: value)
        let secret = secret(slot, value)
        let puts = [
            try vault.seal(access, secret: secret, in: partition).sealed,
            try vault.seal(refresh, secret: secret, in: partition).sealed,
        ]
        try await vault.commit(VaultChange(in: partition, puts: puts))
    }

    func remove(_ slot: Int) async throws {
        let keys = [
            RecordKey(kind: .accessToken, bucket: owner(slot).bucket, item: ["", "Bearer", "scope"]),
            RecordKey(kind: .refreshToken, bucket: owner(slot).bucket, item: [""]),
        ]
        try await vault.commit(VaultChange(in: partition, deletes: keys))
    }

    /// - Returns: the value of both records, nil if neither exists.
    func read(_ slot: Int) throws -> Int64? {
        let bucket = owner(slot).bucket
        let access = try vault.load(AccessTokenRecord.self, bucket: bucket, in: partition)
        let refresh = try vault.load(RefreshTokenRecord.self, bucket: bucket, in: partition)
        guard access.count == refresh.count, access.count <= 1 else {
            throw Failure("slot \(slot) has \(access.count) access and \(refresh.count) refresh tokens")
        }
        guard let access = access.first, let refresh = refresh.first else { return nil }
        let value = access.record.cachedAt
        guard refresh.record.cachedAt == value else {
            throw Failure("slot \(slot) is torn: \(value) and \(refresh.record.cachedAt)")
        }
        for sealed in [access.sealed, refresh.sealed] where try vault.secret(of: sealed) != secret(slot, value) {
            throw Failure("slot \(slot) has the secret of another value than \(value)")
        }
        return value
    }

    func expect(_ value: Int64?, in slot: Int) throws {
        let found = try read(slot)
        guard found == value else {
            throw Failure("slot \(slot): found \(String(describing: found)), expected \(String(describing: value))")
        }
    }
}

func openVault(_ path: String) async throws(VaultError) -> Vault {
    let directory = try StateDirectory.open(creating: path)
    let logger = Logger(label: "vault-torture") { _ in SwiftLogNoOpLogHandler() }
    return try await Vault.open(
        in: directory, rows: SQLiteStore(in: directory),
        keySources: KeySourceChoice([KeyFileSource(in: directory)]),
        anchors: [try StateDirectory.open(creating: path + ".anchors")], at: 0, logger: logger)
}
