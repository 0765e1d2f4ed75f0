import BrokerModel
import BrokerValues
import Synchronization

/// Writes records in chunks of about 64 KiB and seals them. A record is never split between chunks, so no part of it has to be
/// assembled outside guarded memory.
package final class BackupSealer: BackupSealing {
    private struct State {
        let stream: SecretStream
        /// The content of the next chunk.
        var items: [Item] = []
        var count = 0
        var sealed: [UInt8]
    }

    private struct Item {
        /// Kind, lengths and fields.
        let open: [UInt8]
        let secret: Secret?
    }

    private static let chunkCount = 64 << 10
    private let scratch = ScratchPool()
    private let state: Mutex<State>

    /// - Parameters:
    ///   - key: from ``BackupHeader/begin(with:costs:)``.
    ///   - prefix: the file's first bytes up to the stream's header.
    init(key: Secret, prefix: [UInt8], at now: Int64) throws(BackupError) {
        var header: [UInt8] = []
        let stream = try SecretStream(sealingUnder: BackupHeader.streamKey(key), header: &header)
        let begun = prefix + header
        state = Mutex(State(stream: stream, sealed: begun + BackupHeader.check(begun, key: key)))
        try append(BackupItem.Preamble(createdOn: now), kind: BackupItem.Preamble.kind, secret: nil)
    }

    package func append<Record: VaultRecord>(_ record: Record, secret: Secret?) throws(BackupError) {
        try append(record, kind: Record.kind.rawValue, secret: secret)
    }

    private func append(_ value: some Encodable, kind: UInt8, secret: Secret?) throws(BackupError) {
        guard let fields = try? JSONTextEncoder.encode(value) else {
            throw .io("A record of kind \(kind) cannot be encoded. Please report this as an error of the broker.")
        }
        var open = CanonicalBytes(reserving: BackupLayout.headCount + fields.count)
        open.append(kind)
        open.append(UInt32(fields.count))
        open.append(UInt32(secret?.count ?? 0))
        let item = Item(open: open.bytes + fields, secret: secret)
        let size = item.open.count + (secret?.count ?? 0)
        guard size <= BackupLayout.maximumInChunk else {
            throw .io(
                "A record of \(size) bytes is larger than a backup takes. Sign that account out, and export again.")
        }
        try state.withLock { state throws(BackupError) in
            if state.count + size > Self.chunkCount { try seal(&state, isLast: false) }
            state.items.append(item)
            state.count += size
        }
    }

    package func finish() throws(BackupError) {
        try state.withLock { state throws(BackupError) in try seal(&state, isLast: true) }
    }

    package var waiting: Int { state.withLock { $0.sealed.count } }

    package func take(atMost count: Int) -> [UInt8] {
        state.withLock { state in
            let taken = Array(state.sealed.prefix(count))
            state.sealed.removeFirst(taken.count)
            return taken
        }
    }

    private func seal(_ state: inout State, isLast: Bool) throws(BackupError) {
        guard isLast || !state.items.isEmpty else { return }
        let (items, stream) = (state.items, state.stream)
        let box: [UInt8]
        do throws(VaultError) {
            box = try scratch.withBytes(state.count) { chunk in
                var place = 0
                for item in items {
                    UnsafeMutableRawBufferPointer(rebasing: chunk[place...]).copyBytes(from: item.open)
                    place += item.open.count
                    item.secret?.withBytes {
                        UnsafeMutableRawBufferPointer(rebasing: chunk[place...]).copyMemory(from: $0)
                        place += $0.count
                    }
                }
                return stream.seal(UnsafeRawBufferPointer(chunk), isLast: isLast)
            }
        } catch {
            throw .io(error.description)
        }
        var length = CanonicalBytes()
        length.append(UInt32(box.count))
        state.sealed += length.bytes + box
        (state.items, state.count) = ([], 0)
    }
}

/// The layout of a record in a chunk: kind, length of the fields, length of the secret, fields (JSON), secret.
package enum BackupLayout {
    static let headCount = 9
    /// The vault's limit for one record, and the record's head.
    static let maximumInChunk = 8 << 20
}

extension BackupItem {
    /// The item before all records. No record has its kind.
    struct Preamble: Codable {
        static let kind: UInt8 = 0
        var createdOn: Int64
    }
}
