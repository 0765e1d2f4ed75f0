import BrokerModel

/// Random access to the bytes of a backup.
package protocol BackupSource: Sendable {
    var count: Int { get }

    /// - Returns: fewer bytes at the end.
    func bytes(at offset: Int, count: Int) throws(BackupError) -> [UInt8]
}
