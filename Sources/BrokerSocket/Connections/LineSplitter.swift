import Glibc

/// Cuts a stream of bytes into lines. Looks at each byte once, and holds at most one unfinished line.
package struct LineSplitter: MessageSplitter {
    private let limit: Int
    private var pending: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Bytes from there on that are known to hold no newline.
    private var searched = 0

    package init(limit: Int) {
        self.limit = limit
    }

    package var holdsPart: Bool { count > 0 }

    package var count: Int { pending.count - start }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            // Lines cut from this storage may still be held elsewhere, and would make it grow without end.
            pending = Array(pending[start...])
            start = 0
        }
        pending.append(contentsOf: bytes)
    }

    package mutating func next() -> MessageStep {
        let from = start + searched
        let newline: Int? = pending.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let hit = memchr(base + from, Int32(UInt8(ascii: "\n")), bytes.count - from)
            else { return nil }
            return UnsafeRawPointer(hit) - base
        }
        guard let newline else {
            searched = count
            if searched > limit { return .tooLong }
            // An idle connection keeps no storage.
            if searched == 0 { discard() }
            return .needsMore
        }
        guard newline - start <= limit else { return .tooLong }
        defer {
            start = newline + 1
            searched = 0
        }
        return .message(pending[start..<newline])
    }

    package mutating func discard() {
        pending = []
        start = 0
        searched = 0
    }
}
