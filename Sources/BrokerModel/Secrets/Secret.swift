import CSodium

/// Bytes that must stay secret: tokens, codes, verifiers, passwords, keys.
///
/// They are in libsodium's guarded memory (locked, left out of core dumps, fenced by unmapped pages, wiped when freed) and
/// accessible within a closure only. Long-lived secrets (keys, client secrets) are in read-only pages. Descriptions and mirrors
/// show nothing; a `Secret` is deliberately not `Codable`, so it cannot slip into a message or a log as a field of something
/// else.
package final class Secret: Sendable {
    private let memory: GuardedMemory

    package var count: Int { memory.count }
    package var isEmpty: Bool { memory.count == 0 }

    /// - Parameters:
    ///   - bytes: copied; wiping the source is up to its owner.
    ///   - isKept: for longer than a request.
    package init(copying bytes: UnsafeRawBufferPointer, isKept: Bool = false) {
        memory = GuardedMemory(count: bytes.count, isKept: isKept) { $0.copyMemory(from: bytes) }
    }

    /// For text that the language or a library already holds as a `String` (which cannot be wiped).
    package init(_ text: String) {
        var text = text
        memory = text.withUTF8 { bytes in
            GuardedMemory(count: bytes.count, isKept: false) { $0.copyMemory(from: UnsafeRawBufferPointer(bytes)) }
        }
    }

    /// - Parameters:
    ///   - isKept: for longer than a request.
    ///   - fill: writes exactly `count` bytes.
    package init(count: Int, isKept: Bool = false, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        memory = GuardedMemory(count: count, isKept: isKept, fill: fill)
    }

    /// Fresh random bytes from libsodium's generator, for a key.
    package static func random(count: Int) -> Secret {
        Secret(count: count, isKept: true) { buffer in
            if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
        }
    }

    /// The same secret, for longer than a request.
    package var kept: Secret { memory.isKept ? self : withBytes { Secret(copying: $0, isKept: true) } }

    /// Passes the bytes to `body`; they must not outlive the closure.
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try memory.withBytes(body)
    }

    /// The text, for the one place that must pass it on (an HTTP body, the response to the app). Invalid UTF-8 is repaired.
    package func revealed() -> String {
        withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension Secret: Equatable {
    /// In constant time for secrets of the same length.
    package static func == (left: Secret, right: Secret) -> Bool {
        left.withBytes { a in
            right.withBytes { b in
                guard a.count == b.count, let left = a.baseAddress, let right = b.baseAddress else { return false }
                return sodium_memcmp(left, right, a.count) == 0
            }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "‹secret›" }
    package var debugDescription: String { "‹secret›" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
