import BrokerModel
import BrokerValues

/// The audit log as a chain: each entry's value covers the entry and the value before it. Pure.
struct AuditChain: Sendable {
    static let blockSize = 64
    static let start = [UInt8](repeating: 0, count: 32)

    private(set) var head: AuditHeadRecord
    /// The newest block; it is written again until it is full.
    private(set) var tail: AuditBlockRecord

    /// What has to be written, and what goes, since ``take()``.
    private var changed: [AuditBlockRecord] = []
    private var dropped: [Int64] = []

    /// A new log.
    ///
    /// - Parameter run: of the broker.
    init(in run: String) {
        head = AuditHeadRecord(
            firstBlock: 1, lastBlock: 1, sequence: 0, value: Self.start, isComplete: true, run: run)
        tail = AuditBlockRecord(number: 1, previous: Self.start)
    }

    /// Goes on where the earlier one ended. Without its newest block a new one is begun: what is missing stays missing.
    init(after head: AuditHeadRecord, tail: AuditBlockRecord?, in run: String) {
        self.head = head
        self.head.run = run
        if let tail, tail.number == head.lastBlock {
            self.tail = tail
        } else {
            self.head.lastBlock += 1
            self.tail = AuditBlockRecord(number: self.head.lastBlock, previous: head.value)
        }
    }

    /// - Parameter most: blocks that are kept; the oldest go when there are more.
    mutating func append(_ entry: AuditEntry, keeping most: Int64) {
        if tail.entries.count >= Self.blockSize {
            changed.append(tail)
            head.lastBlock += 1
            tail = AuditBlockRecord(number: head.lastBlock, previous: head.value)
            while head.lastBlock - head.firstBlock >= most {
                dropped.append(head.firstBlock)
                head.firstBlock += 1
            }
        }
        var entry = entry
        head.sequence += 1
        entry.sequence = head.sequence
        head.value = Self.value(of: entry, after: head.value)
        tail.entries.append(entry)
    }

    mutating func mark(isComplete: Bool) { head.isComplete = isComplete }

    /// Roughly the bytes it takes.
    var weight: Int { tail.entries.reduce(1_024) { $0 + $1.roughBytes } }

    /// What is to be written for all that was appended: one transaction.
    mutating func take() -> (blocks: [AuditBlockRecord], dropped: [RecordKey]) {
        defer { (changed, dropped) = ([], []) }
        let gone = Set(dropped)
        return (
            (changed + [tail]).filter { !gone.contains($0.number) },
            dropped.map { AuditBlockRecord(number: $0, previous: []).key }
        )
    }

    /// Whether nothing was taken out, put in, moved or changed, from the oldest kept block to the head.
    ///
    /// - Parameter blocks: in the order of their numbers.
    static func isIntact(_ blocks: [AuditBlockRecord], _ head: AuditHeadRecord?) -> Bool {
        guard let head else { return blocks.isEmpty }
        guard blocks.map(\.number) == Array(head.firstBlock...max(head.firstBlock, head.lastBlock)),
            var value = blocks.first?.previous
        else { return false }
        var sequence = blocks.first?.entries.first?.sequence ?? head.sequence + 1
        for block in blocks {
            guard block.previous == value else { return false }
            for entry in block.entries {
                guard entry.sequence == sequence else { return false }
                value = Self.value(of: entry, after: value)
                sequence += 1
            }
        }
        return value == head.value && sequence == head.sequence + 1
    }

    /// Each field with its length before it, so that no two entries have the same bytes.
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
