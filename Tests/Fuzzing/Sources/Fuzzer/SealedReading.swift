import BrokerModel
import BrokerVault

/// The unsealed content of the vault's manifest: a page and a root.
func readManifest(_ bytes: UnsafeRawBufferPointer) {
    let bytes = Array(bytes)
    if let page = ManifestPage(bytes) {
        precondition(page.bytes ?? [] == bytes, "a page that is written otherwise than it was read")
    }
    if let root = ManifestRoot(bytes) {
        let again = ManifestRoot(root.bytes)
        precondition(again == root, "a root that is written otherwise than it was read")
    }
}

/// The bytes as a stream's header and an unsealed message; and as a message that was sealed and truncated.
func readStream(_ bytes: UnsafeRawBufferPointer) {
    let key = Secret(String(repeating: "k", count: 32))
    let count = min(bytes.count, SecretStream.headerCount)
    if let stream = try? SecretStream(openingUnder: key, header: Array(bytes.prefix(count))) {
        precondition(stream.open(Array(bytes.dropFirst(count))) == nil, "a message that nobody sealed")
    }
    var header: [UInt8] = []
    guard let sealing = try? SecretStream(sealingUnder: key, header: &header) else { fatalError("no stream") }
    let box = sealing.seal(bytes, isLast: true)
    guard let cut = try? SecretStream(openingUnder: key, header: header) else { fatalError("no stream") }
    precondition(cut.open(Array(box.dropLast(1 + bytes.count / 2))) == nil, "a message that was cut")
    guard let whole = try? SecretStream(openingUnder: key, header: header) else { fatalError("no stream") }
    guard let opened = whole.open(box) else { fatalError("a sealed message does not open") }
    precondition(opened.isLast && opened.message.count == bytes.count, "another message than was sealed")
}
