import BrokerModel

extension BackupSource {
    package func open(with passphrase: Secret) async throws(BackupError) -> any OpenedBackup {
        try await OpenedBackupSource(self, with: passphrase)
    }
}

/// A backup whose header matches the passphrase.
package struct OpenedBackupSource: OpenedBackup {
    package var source: any BackupSource
    private let key: Secret
    private let streamHeader: [UInt8]

    package init(_ source: any BackupSource, with passphrase: Secret) async throws(BackupError) {
        let header = try BackupHeader(try source.bytes(at: 0, count: BackupHeader.count))
        self.source = source
        key = try await header.key(from: passphrase)
        streamHeader = header.streamHeader
    }

    package func reader() throws(BackupError) -> any BackupReading {
        try BackupReader(source, key: key, streamHeader: streamHeader)
    }
}
