/// A canonical encoding: two different lists of values never give the same bytes.
struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    init(reserving count: Int = 128) { bytes.reserveCapacity(count) }

    mutating func append(_ value: UInt8) { bytes.append(value) }

    mutating func append(_ value: UInt32) {
        // One by one: this runs for every record that is opened.
        for shift in stride(from: UInt32(0), to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func append(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// For values of a fixed length.
    mutating func append(contentsOf value: UnsafeRawBufferPointer) { bytes.append(contentsOf: value) }

    mutating func append(_ value: [UInt8]) {
        append(UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }

    mutating func append(_ text: String) {
        append(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(_ texts: [String]) {
        append(UInt32(truncatingIfNeeded: texts.count))
        for text in texts { append(text) }
    }
}
