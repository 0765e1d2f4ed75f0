import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Records of a backup that are merged together, already sealed: their secrets are released one by one.
struct BackupBatch: Sendable {
    /// The tokens of one client and one person.
    struct Owned: Sendable {
        let owner: TokenOwner
        var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
        var idTokens: [StoredRecord<IDTokenRecord>] = []
        var proofKey: StoredRecord<ProofKeyRecord>?
    }

    /// The limit in approximate bytes: many times what a person has. One owner's records are never split and have their own bounds.
    private static let most = 8 << 20
    /// No broker keeps more for one owner; there is one ID token for each tenant of its access tokens.
    private static let maximumRefreshTokens = CachedTokens.maximumRefreshTokens
    private static let maximumIDTokens = CachedTokens.maximumAccessTokens

    let partition: Partition
    let now: NumericDate
    private(set) var accounts: [StoredRecord<AccountRecord>] = []
    private(set) var signOuts: [StoredRecord<SignOutRecord>] = []
    private(set) var clients: [StoredRecord<AppMetadataRecord>] = []
    private(set) var owned: [Owned] = []
    /// The number of genuine records in a form that this version does not know.
    private(set) var unknown = 0
    /// The number of tokens beyond those that a broker keeps for one owner.
    private(set) var beyond = 0
    private var weight = 0

    init(in partition: Partition, at now: NumericDate) {
        self.partition = partition
        self.now = now
    }

    var isFull: Bool { weight > Self.most }

    /// Whether the item has the same owner as the last one: the records of one owner are not split.
    func continues(with item: BackupItem) -> Bool { item.owner != nil && item.owner == owned.last?.owner }

    mutating func add(_ item: BackupItem, sealedBy vault: any RecordVault) throws(VaultError) {
        func seal<Record: VaultRecord>(
            _ record: Record, _ secret: Secret? = nil
        ) throws(VaultError) -> StoredRecord<Record> {
            let stored = try vault.seal(record, secret: secret, in: partition)
            weight += stored.sealed.weight
            return stored
        }
        if let owner = item.owner, owned.last?.owner != owner { owned.append(Owned(owner: owner)) }
        let last = owned.endIndex - 1
        switch item {
        case .beginning, .app: break
        case .unknown: unknown += 1
        case .account(let record): accounts.append(try seal(record))
        case .signOut(var record):
            record.since = .imported(record.since, at: now)
            signOuts.append(try seal(record))
        case .appMetadata(let record): clients.append(try seal(record))
        case .refreshToken(var record, let secret):
            guard owned[last].refreshTokens.count < Self.maximumRefreshTokens else { return beyond += 1 }
            record.cachedAt = .imported(record.cachedAt, at: now)
            owned[last].refreshTokens.append(try seal(record, secret))
        case .idToken(var record, let secret):
            guard owned[last].idTokens.count < Self.maximumIDTokens else { return beyond += 1 }
            record.cachedAt = .imported(record.cachedAt, at: now)
            owned[last].idTokens.append(try seal(record, secret))
        case .proofKey(let record, let secret): owned[last].proofKey = try seal(record, secret)
        }
    }
}

extension BackupItem {
    fileprivate var owner: TokenOwner? {
        switch self {
        case .refreshToken(let record, _): record.owner
        case .idToken(let record, _): record.owner
        case .proofKey(let record, _): record.owner
        case .beginning, .app, .account, .signOut, .appMetadata, .unknown: nil
        }
    }
}
