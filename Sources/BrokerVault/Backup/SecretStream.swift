import BrokerModel
import CSodium

/// A sequence of messages under one key (libsodium's secretstream: XChaCha20-Poly1305, with a new key for each message). No
/// message can be left out, repeated or reordered, and the last one is marked as the last.
package final class SecretStream {
    package static let headerCount = crypto_secretstream_xchacha20poly1305_headerbytes()
    static let overhead = crypto_secretstream_xchacha20poly1305_abytes()

    private typealias State = crypto_secretstream_xchacha20poly1305_state

    /// Contains the key, so it is in guarded memory.
    private let state: UnsafeMutablePointer<State>

    private init() throws(BackupError) {
        guard let memory = sodium_malloc(MemoryLayout<State>.size) else {
            throw .io("No memory for the key of a backup. Try again when other programs have ended.")
        }
        state = memory.bindMemory(to: State.self, capacity: 1)
    }

    deinit { sodium_free(state) }

    /// - Parameter header: what the reader needs in addition to the key; public.
    package convenience init(sealingUnder key: Secret, header: inout [UInt8]) throws(BackupError) {
        try self.init()
        header = [UInt8](repeating: 0, count: Self.headerCount)
        key.withBytes { _ = crypto_secretstream_xchacha20poly1305_init_push(state, &header, $0.octets) }
    }

    /// - Throws: for a header that is not a stream's.
    package convenience init(openingUnder key: Secret, header: [UInt8]) throws(BackupError) {
        guard header.count == Self.headerCount else { throw .damaged }
        try self.init()
        guard key.withBytes({ crypto_secretstream_xchacha20poly1305_init_pull(state, header, $0.octets) }) == 0 else {
            throw .damaged
        }
    }

    package func seal(_ plaintext: UnsafeRawBufferPointer, isLast: Bool) -> [UInt8] {
        let tag = isLast ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
        return [UInt8](unsafeUninitializedCapacity: plaintext.count + Self.overhead) { box, count in
            guard let start = box.baseAddress else { return }
            var written: UInt64 = 0
            let bytes = plaintext.bindMemory(to: UInt8.self).baseAddress
            _ = crypto_secretstream_xchacha20poly1305_push(
                state, start, &written, bytes, UInt64(plaintext.count), nil, 0, tag)
            count = Int(written)
        }
    }

    /// - Returns: the message, and whether it was the last; nil unless it is the next one.
    package func open(_ box: [UInt8]) -> (message: Secret, isLast: Bool)? {
        guard box.count >= Self.overhead else { return nil }
        var tag: UInt8 = 0
        var isGenuine = false
        let message = Secret(count: box.count - Self.overhead) { plaintext in
            isGenuine =
                crypto_secretstream_xchacha20poly1305_pull(
                    state, plaintext.bindMemory(to: UInt8.self).baseAddress, nil, &tag, box, UInt64(box.count), nil, 0)
                == 0
        }
        return isGenuine ? (message, tag == crypto_secretstream_xchacha20poly1305_tag_final()) : nil
    }
}
