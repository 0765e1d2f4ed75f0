import BrokerModel
import BrokerValues

/// The end of one ring of the audit log: its entries in blocks, of which the oldest are dropped. Pure.
struct AuditRingBlocks: Sendable {
    static let blockSize = 64

    private(set) var end: AuditRingEnd
    /// The newest block; it is written again until it is full.
    private(set) var tail: AuditBlockRecord

    /// The full blocks that are not written yet (``take()``).
    private var changed: [AuditBlockRecord] = []
    private var dropped: [AuditBlockRecord] = []
    private var hasNews = false

    /// Creates an empty ring.
    init(_ ring: AuditRing) {
        end = AuditRingEnd(firstBlock: 1, lastBlock: 1)
        tail = AuditBlockRecord(number: 1, of: ring)
    }

    /// Continues the earlier ring. Without its newest block a new one begins: missing entries stay missing.
    init(_ ring: AuditRing, after end: AuditRingEnd, tail: AuditBlockRecord?) {
        self.end = end
        if let tail, tail.number == end.lastBlock {
            self.tail = tail
        } else {
            self.end.lastBlock += 1
            self.tail = AuditBlockRecord(number: self.end.lastBlock, of: ring)
        }
    }

    /// - Parameter most: the number of blocks to keep; the oldest blocks beyond it are dropped.
    mutating func append(_ entry: AuditEntry, keeping most: Int64) {
        if tail.entries.count >= Self.blockSize {
            changed.append(tail)
            end.lastBlock += 1
            tail = AuditBlockRecord(number: end.lastBlock, of: tail.ring)
            while end.lastBlock - end.firstBlock >= most {
                dropped.append(AuditBlockRecord(number: end.firstBlock, of: tail.ring))
                end.firstBlock += 1
            }
        }
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

    /// Whether every kept block is there. The vault's manifest shows which rows were changed, put back or taken out, and such a row is
    /// not read.
    ///
    /// - Parameters:
    ///   - blocks: blocks of the ring, in the order of their numbers.
    ///   - end: `nil` if the ring has had no entry.
    static func areComplete(_ blocks: [AuditBlockRecord], _ end: AuditRingEnd?) -> Bool {
        guard let end else { return blocks.isEmpty }
        return blocks.map(\.number) == Array(end.firstBlock...max(end.firstBlock, end.lastBlock))
    }
}
