import BrokerSocket

/// Splits the bytes as the first of them selects, and compares the lines with those of the whole.
func readLines(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    let (size, limit) = (Int(first & 0x1f) + 1, Int(first >> 5) * 16 + 8)
    let stream = Array(bytes.dropFirst())
    var splitter = LineSplitter(limit: limit)
    var found: [[UInt8]] = []
    var isTooLong = false
    feeding: for start in stride(from: 0, to: stream.count, by: size) {
        stream[start..<min(start + size, stream.count)].withUnsafeBytes { splitter.append($0) }
        while true {
            switch splitter.next() {
            case .message(let line): found.append(Array(line))
            case .needsMore: continue feeding
            case .tooLong:
                isTooLong = true
                break feeding
            }
        }
    }
    let whole = stream.split(separator: 0x0a, omittingEmptySubsequences: false).map(Array.init)
    precondition(found.elementsEqual(whole.prefix(found.count)), "lines that are not those of the stream")
    if isTooLong {
        precondition(whole[found.count].count > limit, "a line of the limit's length was refused")
    } else {
        precondition(found.count == whole.count - 1 || stream.isEmpty, "a line is missing")
        precondition(whole.dropLast().allSatisfy { $0.count <= limit }, "a line beyond the limit passed")
    }
}
