/// Splits a stream of bytes into lines, independent of its chunks.
struct LineAssembler {
    /// The longest line, in bytes, that a broker may send. Requests are limited to 1 MiB; an answer with many accounts
    /// and their claims may be longer.
    private static let limit = 8 << 20

    private var partial: [UInt8] = []
    /// Bytes of `partial` that are known to hold no newline.
    private var searched = 0

    /// Adds `bytes` and passes every complete line, without its newline, to `body`; empty lines are skipped.
    ///
    /// - Returns: false if a line is longer than the limit; nothing after it can be read.
    mutating func append(_ bytes: UnsafeRawBufferPointer, each body: ([UInt8]) -> Void) -> Bool {
        partial.append(contentsOf: bytes)
        var start = 0
        while let newline = partial[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
            guard newline - start <= Self.limit else { return false }
            if newline > start { body(Array(partial[start..<newline])) }
            start = newline + 1
        }
        partial.removeFirst(start)
        searched = partial.count
        return partial.count <= Self.limit
    }
}
