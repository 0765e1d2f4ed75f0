import BrokerModel
import BrokerValues

/// Records of a backup that are merged together, sealed already: their secrets are let go one by one.
struct BackupBatch: Sendable {
    /// What one client of a group has of one person; it is newer or older as a whole.
    struct Owned: Sendable {
        let owner: TokenOwner
        var refreshTokens: [StoredRecord<RefreshTokenRecord>] = []
        var idTokens: [StoredRecord<IDTokenRecord>] = []
        var proofKey: StoredRecord<ProofKeyRecord>?
    }

    /// Roughly bytes: many times what a person has. What one owner has is not parted, and has bounds of its own.
    private static let most = 8 << 20
    /// No broker keeps more of one owner; of ID tokens there is one for each tenant that access tokens are of.
    private static let mostRefreshTokens = CachedTokens.mostRefreshTokens
    private static let mostIDTokens = CachedTokens.mostAccessTokens

    let partition: Partition
    /// Nothing is from later than now.
    private let now: NumericDate
    private(set) var accounts: [StoredRecord<AccountRecord>] = []
    private(set) var signOuts: [StoredRecord<SignOutRecord>] = []
    private(set) var clients: [StoredRecord<AppMetadataRecord>] = []
    private(set) var owned: [Owned] = []
    /// Genuine, but not as this version has them.
    private(set) var unknown = 0
    /// More of one owner than a broker keeps.
    private(set) var beyond = 0
    private var weight = 0

    init(in partition: Partition, at now: NumericDate) {
        self.partition = partition
        self.now = now
    }

    var isFull: Bool { weight > Self.most }

    /// Whether the item is of the same owner as the last: those are not parted.
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
        case .signOut(let record): signOuts.append(try seal(record))
        case .appMetadata(let record): clients.append(try seal(record))
        case .refreshToken(var record, let secret):
            guard owned[last].refreshTokens.count < Self.mostRefreshTokens else { return beyond += 1 }
            record.cachedAt = min(record.cachedAt, now)
            owned[last].refreshTokens.append(try seal(record, secret))
        case .idToken(var record, let secret):
            guard owned[last].idTokens.count < Self.mostIDTokens else { return beyond += 1 }
            record.cachedAt = min(record.cachedAt, now)
            owned[last].idTokens.append(try seal(record, secret))
        case .proofKey(let record, let secret): owned[last].proofKey = try seal(record, secret)
        }
    }
}

extension BackupBatch.Owned {
    /// When the newest of its grants was given; nil without one.
    var newest: NumericDate? { refreshTokens.map(\.record.cachedAt).max() }
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
