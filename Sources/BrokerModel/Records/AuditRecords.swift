import BrokerValues

/// A part of the audit log with a bound of its own: its entries push out no other part's.
package enum AuditRing: String, Codable, Sendable, CaseIterable {
    /// What was changed, and what the broker says of itself.
    case changes
    /// Tokens that were handed out. Logs of earlier versions have everything here.
    case tokens
    case refusals
}

/// A stretch of one ring of the audit log, in one row.
package struct AuditBlockRecord: VaultRecord {
    package static let kind = RecordKind.auditBlock
    package var number: Int64
    /// The chain's value before the first entry.
    package var previous: [UInt8]
    package var entries: [AuditEntry]
    /// Nil for ``AuditRing/tokens``, as in records of earlier versions.
    private var otherRing: AuditRing?

    package init(number: Int64, of ring: AuditRing, previous: [UInt8], entries: [AuditEntry] = []) {
        self.number = number
        self.previous = previous
        self.entries = entries
        otherRing = ring == .tokens ? nil : ring
    }

    package var ring: AuditRing { otherRing ?? .tokens }

    package var bucket: [String] { [] }
    package var item: [String] { [otherRing?.rawValue, String(number)].compactMap(\.self) }
}

/// Where one ring of the audit log ends.
package struct AuditRingEnd: Codable, Sendable, Equatable {
    /// The blocks that are kept.
    package var firstBlock: Int64
    package var lastBlock: Int64
    /// The chain's value behind the newest entry.
    package var value: [UInt8]

    package init(firstBlock: Int64, lastBlock: Int64, value: [UInt8]) {
        self.firstBlock = firstBlock
        self.lastBlock = lastBlock
        self.value = value
    }
}

/// Where the audit log ends: without it the newest blocks could be taken away unseen.
package struct AuditHeadRecord: VaultRecord {
    package static let kind = RecordKind.auditHead
    /// Of the newest entry of all rings.
    package var sequence: Int64
    /// Whether everything was written when the broker stopped, or had let the log go from memory.
    package var isComplete: Bool
    /// Which run of the broker wrote it. Records of earlier versions do not say.
    package var run: String?
    /// Of ``AuditRing/tokens``. Earlier versions have only these.
    private var firstBlock: Int64
    private var lastBlock: Int64
    private var value: [UInt8]
    private var changes: AuditRingEnd?
    private var refusals: AuditRingEnd?

    package init(sequence: Int64, isComplete: Bool, run: String, ends: [AuditRing: AuditRingEnd]) {
        self.sequence = sequence
        self.isComplete = isComplete
        self.run = run
        let tokens = ends[.tokens] ?? AuditRingEnd(firstBlock: 1, lastBlock: 0, value: [])
        (firstBlock, lastBlock, value) = (tokens.firstBlock, tokens.lastBlock, tokens.value)
        (changes, refusals) = (ends[.changes], ends[.refusals])
    }

    /// Nil for a ring that has had no entry.
    package func end(of ring: AuditRing) -> AuditRingEnd? {
        switch ring {
        case .changes: changes
        case .refusals: refusals
        case .tokens:
            lastBlock < firstBlock ? nil : AuditRingEnd(firstBlock: firstBlock, lastBlock: lastBlock, value: value)
        }
    }

    package var bucket: [String] { [] }
    package var item: [String] { [] }
}
