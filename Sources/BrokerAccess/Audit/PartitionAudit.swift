import BrokerModel
import BrokerValues

/// The audit log of one person: three rings, and one sequence of numbers for all. Pure.
struct PartitionAudit: Sendable {
    /// The number of blocks that each ring keeps.
    typealias Room = [AuditRing: Int64]

    private var rings: [AuditRing: AuditRingBlocks] = [:]
    private var sequence: Int64 = 0
    private var isComplete = true
    private let run: String

    /// Creates an empty log.
    ///
    /// - Parameter run: the broker's run.
    init(in run: String) { self.run = run }

    /// Continues the earlier log.
    init(after head: AuditHeadRecord, _ blocks: [AuditBlockRecord], in run: String) {
        self.run = run
        sequence = head.sequence
        isComplete = head.isComplete
        for ring in AuditRing.allCases {
            guard let end = head.end(of: ring) else { continue }
            let tail = blocks.filter { $0.ring == ring }.max { $0.number < $1.number }
            rings[ring] = AuditRingBlocks(ring, after: end, tail: tail)
        }
    }

    mutating func append(_ entry: AuditEntry, keeping room: Room) {
        sequence += 1
        var entry = entry
        entry.sequence = sequence
        let ring = AuditRing(outcome: entry.outcome)
        rings[ring, default: AuditRingBlocks(ring)].append(entry, keeping: room[ring] ?? 1)
    }

    mutating func mark(isComplete: Bool) { self.isComplete = isComplete }

    /// Its rough size in bytes.
    var weight: Int { rings.values.reduce(1_024) { $0 + $1.weight } }

    var head: AuditHeadRecord {
        AuditHeadRecord(sequence: sequence, isComplete: isComplete, run: run, ends: rings.mapValues(\.end))
    }

    /// The records to write for all appended entries, in one transaction with the head.
    mutating func take() -> (blocks: [AuditBlockRecord], dropped: [RecordKey]) {
        var all: (blocks: [AuditBlockRecord], dropped: [RecordKey]) = ([], [])
        for ring in AuditRing.allCases {
            guard let taken = rings[ring]?.take() else { continue }
            all.blocks += taken.blocks
            all.dropped += taken.dropped
        }
        return all
    }
}

/// The audit log as stored in the vault, or some of its entries with the state of the whole log. Pure.
package struct AuditListing: Sendable {
    /// Oldest first.
    package internal(set) var entries: [AuditEntry]
    /// Whether no kept entry is missing.
    package let isIntact: Bool
    /// From this time on no entry was displaced by newer ones; `nil` for an empty log.
    package let completeSince: NumericDate?

    init(_ head: AuditHeadRecord?, _ blocks: [AuditBlockRecord]) {
        let rings = Dictionary(grouping: blocks, by: \.ring).mapValues { $0.sorted { $0.number < $1.number } }
        let kept = blocks.flatMap(\.entries).sorted { $0.sequence < $1.sequence }
        entries = kept
        // The oldest kept entry of each ring that has dropped entries.
        let firsts = AuditRing.allCases.compactMap { ring in
            head?.end(of: ring).flatMap { $0.firstBlock > 1 ? rings[ring]?.first?.entries.first : nil }
        }
        completeSince = firsts.map(\.time).max() ?? kept.first?.time
        let (first, newest) = (firsts.map(\.sequence).max() ?? 1, head?.sequence ?? 0)
        isIntact =
            AuditRing.allCases.allSatisfy { AuditRingBlocks.areComplete(rings[$0] ?? [], head?.end(of: $0)) }
            && kept.drop { $0.sequence < first }.map(\.sequence).elementsEqual(first..<max(first, newest + 1))
    }
}

extension AuditRing {
    /// - Parameter outcome: an entry's outcome.
    init(outcome: String) {
        self =
            switch outcome {
            case "cached", "issued": .tokens
            case "done": .changes
            default: .refusals
            }
    }
}

extension AuditEntry {
    var roughBytes: Int {
        let facts = (facts ?? [:]).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
        let texts = [caller?.id, app, account, detail, correlationID].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return 256 + facts + texts + (scopes ?? []).reduce(0) { $0 + $1.utf8.count + 4 }
    }
}
