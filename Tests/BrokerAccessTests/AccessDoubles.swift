import BrokerModel
import BrokerValues
import BrokerVault
import Logging
import Synchronization

/// A real vault that counts how often all of a kind is read, can be made unreadable, and lets a test in after a change.
final class CountingVault: RecordVault {
    let real: Vault
    private let count = Mutex(0)
    private let failure = Mutex<VaultError?>(nil)
    private let hook = Mutex<(@Sendable () async -> Void)?>(nil)

    init(_ real: Vault) { self.real = real }

    var reads: Int { count.withLock { $0 } }
    func failReading(_ error: VaultError?) { failure.withLock { $0 = error } }
    /// Between the disk's having the next change and its caller's hearing so.
    func afterNextCommit(_ body: @escaping @Sendable () async -> Void) { hook.withLock { $0 = body } }

    func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] { try real.load(type, bucket: bucket, in: partition) }

    func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] {
        count.withLock { $0 += 1 }
        if let error = failure.withLock({ $0 }) { throw error }
        return try real.loadAll(type, in: partition)
    }

    func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record> { try real.seal(record, secret: secret, in: partition) }

    func commit(_ change: VaultChange) async throws(VaultError) {
        let hook = hook.withLock { hook in
            defer { hook = nil }
            return hook
        }
        try await real.commit(change)
        await hook?()
    }

    func withSecret<Result>(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result { try real.withSecret(of: sealed, body) }

    func statistics() throws(VaultError) -> VaultStatistics { try real.statistics() }
}

/// The apps that a log names, in order.
final class LoggedApps: Sendable {
    private let apps = Mutex<[String]>([])
    var names: [String] { apps.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ app: String) { apps.withLock { $0.append(app) } }

    private struct Handler: LogHandler {
        let log: LoggedApps
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let app = event.metadata?["app"] { log.add("\(app)") }
        }
    }
}
