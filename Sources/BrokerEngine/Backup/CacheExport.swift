import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Implements `cache.export`: reads one person's apps, accounts and tokens, and returns them sealed, in parts. It reads some rows
/// at a time; a record that changes meanwhile is exported in its old or its new state.
///
/// Access tokens are left out: they end within the hour, and a refresh token brings new ones. So are documents of providers, which
/// are fetched anew and trusted only then.
final class CacheExport: Sendable {
    private enum Stage: CaseIterable { case apps, accounts, signOuts, clients, refreshTokens, idTokens, proofKeys }

    private struct State {
        var left = Stage.allCases[...]
        /// The last row that was read.
        var after: Int64 = 0
    }

    /// The most bytes of one part: with the overhead of JSON, well within a line.
    static let partCount = 512 << 10
    private static let rowsPerStep = 64

    private let vault: any RecordVault
    private let partition: Partition
    private let backup: any BackupSealing
    private let state = Mutex(State())

    init(of partition: Partition, from vault: any RecordVault, to backup: any BackupSealing) {
        (self.vault, self.partition, self.backup) = (vault, partition, backup)
    }

    /// The next bytes of the file.
    func part() throws(BrokerError) -> (bytes: [UInt8], isLast: Bool) {
        try state.withLock { state throws(BrokerError) in
            do {
                while backup.waiting < Self.partCount, let stage = state.left.first { try step(stage, &state) }
            } catch let error as VaultError {
                throw BrokerError(error)
            } catch let error as BackupError {
                throw BrokerError(error)
            } catch {
                throw BrokerError(.internal, "The export failed; see the broker's log.", cause: error)
            }
            let bytes = backup.take(atMost: Self.partCount)
            return (bytes, state.left.isEmpty && backup.waiting == 0)
        }
    }

    private func step(_ stage: Stage, _ state: inout State) throws {
        let last: Int64?
        switch stage {
        case .apps:
            last = try page(AppRecord.self, after: state.after) { stored in
                try add(stored, hasSecret: stored.record.isConfidential)
            }
        case .accounts: last = try page(AccountRecord.self, after: state.after) { try add($0, hasSecret: false) }
        case .signOuts: last = try page(SignOutRecord.self, after: state.after) { try add($0, hasSecret: false) }
        case .clients: last = try page(AppMetadataRecord.self, after: state.after) { try add($0, hasSecret: false) }
        case .refreshTokens: last = try owners(RefreshTokenRecord.self, \.owner, after: state.after)
        case .idTokens: last = try owners(IDTokenRecord.self, \.owner, after: state.after)
        case .proofKeys: last = try owners(ProofKeyRecord.self, \.owner, after: state.after)
        }
        state.after = last ?? 0
        guard last == nil else { return }
        state.left.removeFirst()
        if state.left.isEmpty { try backup.finish() }
    }

    /// - Returns: the last row that was read; `nil` at the end.
    private func page<Record: VaultRecord>(
        _ type: Record.Type, after row: Int64, _ body: (StoredRecord<Record>) throws -> Void
    ) throws -> Int64? {
        let page = try vault.loadPage(type, after: row, atMost: Self.rowsPerStep, in: partition)
        for stored in page.records { try body(stored) }
        return page.lastRow
    }

    /// Exports all records of an owner together, when its first one is found.
    private func owners<Record: VaultRecord>(
        _ type: Record.Type, _ owner: (Record) -> TokenOwner, after row: Int64
    ) throws -> Int64? {
        try page(type, after: row) { stored in
            let bucket = owner(stored.record).bucket
            let refreshTokens = try vault.load(RefreshTokenRecord.self, bucket: bucket, in: partition).inOrder()
            let idTokens = try vault.load(IDTokenRecord.self, bucket: bucket, in: partition).inOrder()
            let proofKeys = try vault.load(ProofKeyRecord.self, bucket: bucket, in: partition)
            let rows = refreshTokens.map(\.sealed) + idTokens.map(\.sealed) + proofKeys.map(\.sealed)
            guard rows.first?.rowKey == stored.sealed.rowKey else { return }
            for token in refreshTokens { try add(token) }
            for token in idTokens { try add(token) }
            for key in proofKeys { try add(key) }
        }
    }

    private func add(_ stored: StoredRecord<some VaultRecord>, hasSecret: Bool = true) throws {
        try backup.append(stored.record, secret: hasSecret ? try vault.secret(of: stored.sealed) : nil)
    }
}

extension BrokerError {
    init(_ error: BackupError) {
        switch error {
        case .wrongPassphrase: self.init(.accessDenied, error.description, reason: .wrongPassphrase, cause: error)
        case .full, .io: self.init(.internal, error.description, cause: error)
        case .notABackup, .newerFormat, .shortPassphrase, .damaged, .truncated, .tooLarge:
            self.init(.invalidParameter, error.description, cause: error)
        }
    }
}
