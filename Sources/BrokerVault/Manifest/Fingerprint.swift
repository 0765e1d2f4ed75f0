import BrokerModel

/// The first 128 bits of a keyed hash or of a box's random nonce: two never match by chance, and without the key nobody can
/// produce given ones.
struct Fingerprint: Sendable, Hashable {
    static let count = 16
    private let halves: SIMD2<UInt64>

    /// - Returns: nil if there are too few bytes, as in a row that was tampered with.
    init?(_ bytes: some Collection<UInt8>) {
        var halves = SIMD2<UInt64>()
        let isWhole = withUnsafeMutableBytes(of: &halves) { halves in
            halves.count <= bytes.count
                && {
                    halves.copyBytes(from: bytes.prefix(halves.count)); return true
                }()
        }
        guard isWhole else { return nil }
        self.halves = halves
    }

    var firstByte: UInt8 { withUnsafeBytes(of: halves) { $0[0] } }

    func append(to bytes: inout CanonicalBytes) {
        withUnsafeBytes(of: halves) { bytes.append(contentsOf: $0) }
    }
}

/// Reads what ``CanonicalBytes`` wrote.
struct CanonicalReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func number32() -> UInt32? { take(4).map { $0.reversed().reduce(0) { $0 << 8 | UInt32($1) } } }

    mutating func number64() -> UInt64? { take(8).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } } }

    /// Bytes whose number precedes them.
    mutating func octets() -> [UInt8]? {
        guard let count = number32() else { return nil }
        return take(Int(count)).map { Array($0) }
    }

    mutating func fingerprint() -> Fingerprint? { take(Fingerprint.count).flatMap { Fingerprint($0) } }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
