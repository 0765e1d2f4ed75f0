import BrokerValues

/// A stretch of the audit log, in one row.
package struct AuditBlockRecord: VaultRecord {
    package static let kind = RecordKind.auditBlock
    package var number: Int64
    /// The chain's value before the first entry.
    package var previous: [UInt8]
    package var entries: [AuditEntry]

    package init(number: Int64, previous: [UInt8], entries: [AuditEntry] = []) {
        self.number = number
        self.previous = previous
        self.entries = entries
    }

    package var bucket: [String] { [] }
    package var item: [String] { [String(number)] }
}

/// Where the audit log ends: without it the newest block could be taken away unseen.
package struct AuditHeadRecord: VaultRecord {
    package static let kind = RecordKind.auditHead
    /// The blocks that are kept.
    package var firstBlock: Int64
    package var lastBlock: Int64
    /// Of the newest entry.
    package var sequence: Int64
    /// The chain's value behind the newest entry.
    package var value: [UInt8]
    /// Whether everything was written when the broker stopped, or had let the log go from memory.
    package var isComplete: Bool
    /// Which run of the broker wrote it. Records of earlier versions do not say.
    package var run: String?

    package init(firstBlock: Int64, lastBlock: Int64, sequence: Int64, value: [UInt8], isComplete: Bool, run: String) {
        self.firstBlock = firstBlock
        self.lastBlock = lastBlock
        self.sequence = sequence
        self.value = value
        self.isComplete = isComplete
        self.run = run
    }

    package var bucket: [String] { [] }
    package var item: [String] { [] }
}
