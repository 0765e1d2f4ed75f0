import BrokerModel
import BrokerValues

/// One ring of the audit log as a chain: each entry's value covers the entry and the value before it. Pure.
struct AuditChain: Sendable {
    static let blockSize = 64
    static let start = [UInt8](repeating: 0, count: 32)

    private(set) var end: AuditRingEnd
    /// The newest block; it is written again until it is full.
    private(set) var tail: AuditBlockRecord

    /// The full blocks that are not written yet (``take()``).
    private var changed: [AuditBlockRecord] = []
    private var dropped: [AuditBlockRecord] = []
    private var hasNews = false

    /// Creates an empty chain.
    init(_ ring: AuditRing) {
        end = AuditRingEnd(firstBlock: 1, lastBlock: 1, value: Self.start)
        tail = AuditBlockRecord(number: 1, of: ring, previous: Self.start)
    }

    /// Continues the earlier chain. Without its newest block a new one begins: missing entries stay missing.
    init(_ ring: AuditRing, after end: AuditRingEnd, tail: AuditBlockRecord?) {
        self.end = end
        if let tail, tail.number == end.lastBlock {
            self.tail = tail
        } else {
            self.end.lastBlock += 1
            self.tail = AuditBlockRecord(number: self.end.lastBlock, of: ring, previous: end.value)
        }
    }

    /// - Parameter most: the number of blocks to keep; the oldest blocks beyond it are dropped.
    mutating func append(_ entry: AuditEntry, keeping most: Int64) {
        if tail.entries.count >= Self.blockSize {
            changed.append(tail)
            end.lastBlock += 1
            tail = AuditBlockRecord(number: end.lastBlock, of: tail.ring, previous: end.value)
            while end.lastBlock - end.firstBlock >= most {
                dropped.append(AuditBlockRecord(number: end.firstBlock, of: tail.ring, previous: []))
                end.firstBlock += 1
            }
        }
        end.value = Self.value(of: entry, after: end.value)
        tail.entries.append(entry)
        hasNews = true
    }

    /// Its rough size in bytes.
    var weight: Int { tail.entries.reduce(1_024) { $0 + $1.roughBytes } }

    /// The changes to write for everything that was appended, in one transaction.
    mutating func take() -> (blocks: [AuditBlockRecord], dropped: [RecordKey]) {
        defer { (changed, dropped, hasNews) = ([], [], false) }
        let gone = Set(dropped.map(\.number))
        let written = hasNews ? changed + [tail] : []
        return (written.filter { !gone.contains($0.number) }, dropped.map(\.key))
    }

    /// Whether nothing was removed, inserted, moved or changed, from the oldest kept block to the end.
    ///
    /// - Parameters:
    ///   - blocks: blocks of the ring, in the order of their numbers.
    ///   - end: `nil` if the ring has had no entry.
    static func isIntact(_ blocks: [AuditBlockRecord], _ end: AuditRingEnd?) -> Bool {
        guard let end else { return blocks.isEmpty }
        guard blocks.map(\.number) == Array(end.firstBlock...max(end.firstBlock, end.lastBlock)),
            var value = blocks.first?.previous
        else { return false }
        for block in blocks {
            guard block.previous == value else { return false }
            for entry in block.entries { value = Self.value(of: entry, after: value) }
        }
        return value == end.value
    }

    /// Each field is preceded by its length, so that no two entries have the same bytes.
    private static func value(of entry: AuditEntry, after previous: [UInt8]) -> [UInt8] {
        var bytes = previous
        func add(_ text: String?) {
            guard let text else { return bytes.append(0) }
            bytes.append(1)
            add(number: Int64(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
        func add(number: Int64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        for number in [entry.sequence, entry.time, entry.count] { add(number: number) }
        add(entry.caller?.tier.rawValue)
        add(entry.caller?.id)
        add(number: Int64(entry.facts?.count ?? -1))
        for (name, fact) in (entry.facts ?? [:]).sorted(by: { $0.key < $1.key }) {
            add(name)
            add(fact)
        }
        add(number: Int64(entry.scopes?.count ?? -1))
        for scope in entry.scopes ?? [] { add(scope) }
        for text in [
            entry.method, entry.app, entry.account, entry.outcome, entry.reason, entry.detail, entry.correlationID,
        ] { add(text) }
        return Blake2b.hash(bytes, length: 32)
    }
}
