import BrokerValues

/// A part of the audit log with its own limit: its entries do not displace those of other parts.
package enum AuditRing: String, Codable, Sendable, CaseIterable {
    /// Changes, and the broker's entries about itself.
    case changes
    /// Issued tokens. Logs of earlier versions have everything here.
    case tokens
    case refusals
}

/// A segment of one ring of the audit log, in one row.
package struct AuditBlockRecord: VaultRecord {
    package static let kind = RecordKind.auditBlock
    package var number: Int64
    /// Earlier versions chained the entries by hashes, and read no record without this.
    private var previous: [UInt8] = []
    package var entries: [AuditEntry]
    /// `nil` for ``AuditRing/tokens``, as in records of earlier versions.
    private var otherRing: AuditRing?

    package init(number: Int64, of ring: AuditRing, entries: [AuditEntry] = []) {
        self.number = number
        self.entries = entries
        otherRing = ring == .tokens ? nil : ring
    }

    package var ring: AuditRing { otherRing ?? .tokens }

    package var bucket: [String] { [] }
    package var item: [String] { [otherRing?.rawValue, String(number)].compactMap(\.self) }
}

/// The end of one ring of the audit log.
package struct AuditRingEnd: Codable, Sendable, Equatable {
    /// The blocks that are kept.
    package var firstBlock: Int64
    package var lastBlock: Int64
    /// Like that of a block.
    private var value: [UInt8] = []

    package init(firstBlock: Int64, lastBlock: Int64) {
        self.firstBlock = firstBlock
        self.lastBlock = lastBlock
    }
}

/// The end of the audit log: without it the newest blocks could be removed undetected.
package struct AuditHeadRecord: VaultRecord {
    package static let kind = RecordKind.auditHead
    /// The number of the newest entry of all rings.
    package var sequence: Int64
    /// Whether everything was written when the broker stopped, or released the log from memory.
    package var isComplete: Bool
    /// The run of the broker that wrote it. Records of earlier versions lack it.
    package var run: String?
    /// For ``AuditRing/tokens``. Earlier versions have only these.
    private var firstBlock: Int64
    private var lastBlock: Int64
    private var value: [UInt8] = []
    private var changes: AuditRingEnd?
    private var refusals: AuditRingEnd?

    package init(sequence: Int64, isComplete: Bool, run: String, ends: [AuditRing: AuditRingEnd]) {
        self.sequence = sequence
        self.isComplete = isComplete
        self.run = run
        let tokens = ends[.tokens] ?? AuditRingEnd(firstBlock: 1, lastBlock: 0)
        (firstBlock, lastBlock) = (tokens.firstBlock, tokens.lastBlock)
        (changes, refusals) = (ends[.changes], ends[.refusals])
    }

    /// `nil` for a ring without entries so far.
    package func end(of ring: AuditRing) -> AuditRingEnd? {
        switch ring {
        case .changes: changes
        case .refusals: refusals
        case .tokens:
            lastBlock < firstBlock ? nil : AuditRingEnd(firstBlock: firstBlock, lastBlock: lastBlock)
        }
    }

    package var bucket: [String] { [] }
    package var item: [String] { [] }
}
