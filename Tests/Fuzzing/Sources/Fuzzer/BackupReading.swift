import BrokerModel
import BrokerVault

/// The beginning of a backup, and the content of a chunk that was sealed with its key.
func readBackup(_ bytes: UnsafeRawBufferPointer) {
    _ = try? BackupHeader(Array(bytes.prefix(BackupHeader.count)))
    readStream(bytes)
    guard !bytes.isEmpty else { return }
    let chunk = Secret(count: bytes.count) { $0.copyMemory(from: bytes) }
    var place = 0
    while place < chunk.count {
        let before = place
        guard (try? BackupLayout.item(in: chunk, at: &place)) != nil else { return }
        precondition(place > before && place <= chunk.count, "a record that ends nowhere")
    }
}
