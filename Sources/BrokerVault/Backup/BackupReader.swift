import BrokerModel
import BrokerValues
import Synchronization

/// One pass through a backup, chunk by chunk.
final class BackupReader: BackupReading {
    private struct State {
        let stream: SecretStream
        /// The offset of the next chunk.
        var offset = BackupHeader.count
        var chunk: Secret?
        /// The position in the chunk.
        var place = 0
        var isLastChunk = false
    }

    private let file: any BackupSource
    private let state: Mutex<State>

    init(_ file: any BackupSource, key: Secret, streamHeader: [UInt8]) throws(BackupError) {
        self.file = file
        state = Mutex(State(stream: try SecretStream(openingUnder: key, header: streamHeader)))
    }

    func next() throws(BackupError) -> BackupItem? {
        try state.withLock { state throws(BackupError) in
            while true {
                if let chunk = state.chunk, state.place < chunk.count {
                    return try BackupLayout.item(in: chunk, at: &state.place)
                }
                guard !state.isLastChunk else { return nil }
                try openChunk(&state)
            }
        }
    }

    private func openChunk(_ state: inout State) throws(BackupError) {
        let length = try file.bytes(at: state.offset, count: 4)
        guard length.count == 4 else { throw .truncated }
        let count = Int(length.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard (SecretStream.overhead...BackupLayout.maximumInChunk + SecretStream.overhead).contains(count) else {
            throw .damaged
        }
        let box = try file.bytes(at: state.offset + 4, count: count)
        guard box.count == count else { throw .truncated }
        guard let (message, isLast) = state.stream.open(box) else { throw .damaged }
        // No broker writes an empty chunk; many of them would keep the reader busy for nothing.
        guard isLast || message.count > 0 else { throw .damaged }
        state.offset += 4 + count
        (state.chunk, state.place, state.isLastChunk) = (message, 0, isLast)
        // Appended bytes are not part of the backup.
        if isLast, file.count != state.offset { throw .damaged }
    }
}

extension BackupLayout {
    /// The next record in a chunk. The chunk's content is authenticated, but a faulty broker may have written it.
    package static func item(in chunk: Secret, at place: inout Int) throws(BackupError) -> BackupItem {
        let (item, end) = try chunk.withBytes { bytes throws(BackupError) -> (BackupItem, Int) in
            let head = place + BackupLayout.headCount
            guard head <= bytes.count else { throw .damaged }
            func number(_ offset: Int) -> Int {
                Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + offset, as: UInt32.self)))
            }
            let (fieldsEnd, end) = (head + number(1), head + number(1) + number(5))
            guard end <= bytes.count else { throw .damaged }
            let fields = UnsafeRawBufferPointer(rebasing: bytes[head..<fieldsEnd])
            let secret = Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[fieldsEnd..<end]))
            return (BackupItem(kind: bytes[place], fields, secret), end)
        }
        place = end
        return item
    }
}

extension BackupItem {
    fileprivate init(kind: UInt8, _ fields: UnsafeRawBufferPointer, _ secret: Secret) {
        func record<Record: Decodable>(_ type: Record.Type) -> Record? {
            try? JSONNodeDecoder.decode(type, from: JSONReader.read(fields, within: .own))
        }
        let item: BackupItem? =
            switch RecordKind(rawValue: kind) {
            case nil where kind == Preamble.kind: record(Preamble.self).map { .beginning(createdOn: $0.createdOn) }
            case .app: record(AppRecord.self).map { .app($0, $0.isConfidential ? secret : nil) }
            case .account: record(AccountRecord.self).map { .account($0) }
            case .signOut: record(SignOutRecord.self).map { .signOut($0) }
            case .appMetadata: record(AppMetadataRecord.self).map { .appMetadata($0) }
            case .refreshToken: record(RefreshTokenRecord.self).map { .refreshToken($0, secret) }
            case .idToken: record(IDTokenRecord.self).map { .idToken($0, secret) }
            case .proofKey: record(ProofKeyRecord.self).map { .proofKey($0, secret) }
            case .accessToken, .providerDocument, .grant, .auditBlock, .auditHead, .partitionOwner, nil: nil
            }
        self = item ?? .unknown
    }
}
