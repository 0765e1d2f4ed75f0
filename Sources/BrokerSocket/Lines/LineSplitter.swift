import Glibc
import NIOCore

/// Cuts a stream of bytes into lines. Looks at each byte once, and holds at most one unfinished line.
package struct LineSplitter {
    package enum Step: Equatable {
        case line(ByteBuffer)
        /// No whole line is there.
        case needsMore
        case tooLong
    }

    private let limit: Int
    private var pending = ByteBuffer()
    /// Bytes at the start of `pending` that are known to hold no newline.
    private var searched = 0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether the beginning of a line is waiting for the rest; meaningful after `next` said `needsMore`.
    package var holdsPartOfLine: Bool { pending.readableBytes > 0 }

    /// Bytes that are here and not handed out yet.
    package var count: Int { pending.readableBytes }

    package mutating func append(_ bytes: ByteBuffer) {
        guard pending.readableBytes > 0 else {
            // The usual case, whole requests: no byte is copied.
            pending = bytes
            return
        }
        if pending.readerIndex > 0 {
            // Lines cut from this storage may still be held elsewhere, and would make it grow without end.
            var rest = ByteBufferAllocator().buffer(capacity: pending.readableBytes + bytes.readableBytes)
            rest.writeImmutableBuffer(pending)
            pending = rest
        }
        pending.writeImmutableBuffer(bytes)
    }

    package mutating func next() -> Step {
        let unsearched = pending.readableBytesView.dropFirst(searched)
        let newline: Int? = unsearched.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let hit = memchr(start, Int32(UInt8(ascii: "\n")), bytes.count) else {
                return nil
            }
            return UnsafeRawPointer(hit) - start
        }
        guard let newline else {
            searched = pending.readableBytes
            if searched > limit { return .tooLong }
            // An idle connection keeps no storage.
            if searched == 0 { pending = ByteBuffer() }
            return .needsMore
        }
        let length = searched + newline
        guard length <= limit, let line = pending.readSlice(length: length) else { return .tooLong }
        pending.moveReaderIndex(forwardBy: 1)
        searched = 0
        return .line(line)
    }

    package mutating func discard() {
        pending = ByteBuffer()
        searched = 0
    }
}
