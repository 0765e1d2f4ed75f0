import BrokerModel
import BrokerValues

extension AuditLog {
    /// Writes the events since the last write.
    package func flush() async { await write(isLast: false) }

    /// Writes the partition's events since the last write.
    func flush(_ partition: Partition) async {
        await turns.run { [self] in
            let isNeeded = state.withLock { state in
                state.takeTallies(of: partition, at: clock.now)
                return state.unwritten[partition] != nil || state.lost[partition] != nil
            }
            if isNeeded { await write(partition, isLast: false) }
        }
    }

    /// Writes the remaining events, and a mark that nothing is missing.
    package func stop() async { await write(isLast: true) }

    /// Writes a mark that this run has entries of a partition. However this run ends, the next one then knows whether entries are
    /// missing.
    func begin(_ partition: Partition) async {
        await turns.run { [self] in
            let isNeeded = state.withLock { $0.hasOnlyInMemory(partition) && $0.audits.peek(partition) == nil }
            if isNeeded { await write(partition, isLast: false) }
        }
    }

    private func write(isLast: Bool) async {
        await turns.run { [self] in
            let partitions = state.withLock { state in
                (state.isWritingScheduled, state.beginning) = (false, [])
                state.takeTallies(at: clock.now)
                let partitions = Set(state.unwritten.keys).union(state.lost.keys)
                return isLast ? partitions.union(state.audits.keys) : partitions
            }
            for partition in partitions { await write(partition, isLast: isLast) }
        }
    }

    private func write(_ partition: Partition, isLast: Bool) async {
        let payer = payer(partition)
        let (entries, lost) = state.withLock { state in
            (state.unwritten[partition]?.entries.map(\.entry) ?? [], state.lost[partition] ?? 0)
        }
        do throws(VaultError) {
            var audit = try audit(of: partition)
            for entry in entries { audit.append(entry, keeping: maximumBlocks) }
            if lost > 0 {
                var entry = AuditEntry(time: clock.now, method: "audit.lost", outcome: "done")
                entry.count = lost
                audit.append(entry, keeping: maximumBlocks)
            }
            if isLast {
                audit.append(
                    AuditEntry(time: clock.now, method: "broker.stop", outcome: "done"), keeping: maximumBlocks)
            }
            audit.mark(isComplete: isLast)
            try await commit(&audit, in: partition)
            let gone = state.withLock { [audit] state in
                state.written(entries.count, of: partition)
                let rest = (state.lost[partition] ?? 0) - lost
                state.lost[partition] = rest > 0 ? rest : nil
                let open = LoadedAudit(partition: partition, audit: audit)
                state.audits.keep(open, for: partition, of: payer, weight: audit.weight)
                return state.audits.makeRoom()
            }
            for open in gone { try await letGo(open) }
        } catch {
            // While the broker is locked the entries wait; they hold no secret.
            guard error != .locked else { return }
            log.warning("the audit log could not be written; it is tried again", metadata: ["cause": "\(error)"])
        }
    }

    /// Marks the log on disk as complete before it is dropped from memory, so that it stays complete whenever the broker ends.
    private func letGo(_ open: LoadedAudit) async throws(VaultError) {
        var audit = open.audit
        let isWhole = state.withLock { state in
            // Later events begin it again.
            state.beginning.remove(open.partition)
            return !state.hasOnlyInMemory(open.partition)
        }
        audit.mark(isComplete: isWhole)
        try await commit(&audit, in: open.partition)
    }

    private func commit(_ audit: inout PartitionAudit, in partition: Partition) async throws(VaultError) {
        let (blocks, dropped) = audit.take()
        var change = VaultChange(in: partition, deletes: dropped)
        for block in blocks { change.puts.append(try vault.seal(block, secret: nil, in: partition).sealed) }
        change.puts.append(try vault.seal(audit.head, secret: nil, in: partition).sealed)
        try await rows.holding(partition) { [change] () async throws(VaultError) in try await vault.commit(change) }
    }

    /// The log as continued by this run. Its first entry says that the broker started, and whether earlier entries are missing.
    private func audit(of partition: Partition) throws(VaultError) -> PartitionAudit {
        if let open = state.withLock({ $0.audits.use(partition) }) { return open.audit }
        var start = AuditEntry(time: startedOn, method: "broker.start", outcome: "done")
        guard let head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record else {
            var audit = PartitionAudit(in: run)
            audit.append(start, keeping: maximumBlocks)
            return audit
        }
        var audit = PartitionAudit(
            after: head, try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record), in: run)
        guard head.run != run else { return audit }
        if !head.isComplete { start.reason = "interrupted" }
        audit.append(start, keeping: maximumBlocks)
        return audit
    }
}

extension AuditLog.State {
    /// - Parameter count: number of the partition's entries written, from the first.
    mutating func written(_ count: Int, of partition: Partition) {
        for (entry, payer) in unwritten[partition]?.entries.prefix(count) ?? [] {
            waiting.leave(for: payer.caller, of: payer.user)
            if AuditRing(outcome: entry.outcome) == .refusals { unwritten[partition]?.refusals -= 1 }
        }
        unwritten[partition]?.entries.removeFirst(count)
        if unwritten[partition]?.entries.isEmpty == true { unwritten[partition] = nil }
    }

    /// Whether some of its entries would be lost with the broker.
    fileprivate func hasOnlyInMemory(_ partition: Partition) -> Bool {
        unwritten[partition] != nil || order.contains { $0.caller.partition == partition }
    }

    /// Adds an entry of the broker itself; if there is no room, the entry is only counted.
    mutating func add(_ entry: AuditEntry, of partition: Partition, paidBy payer: AuditLog.Payer) {
        let count = unwritten[partition]?.entries.count ?? 0
        if count < AuditLog.maximumUnwritten, waiting.take(for: payer.caller, of: payer.user) {
            unwritten[partition, default: AuditLog.Unwritten()].entries.append((entry, payer))
        } else if lost[partition] != nil || lost.count < AuditLog.maximumLosers {
            lost[partition, default: 0] += 1
        }
    }

    /// - Parameter partition: `nil` for all.
    fileprivate mutating func takeTallies(of partition: Partition? = nil, at now: NumericDate) {
        for tally in removeTallies(of: partition) {
            let (partition, payer) = (tally.caller.partition, tally.payer)
            let entry = tally.take(at: now)
            let isFull = unwritten[partition]?.isFull(for: tally) ?? false
            let hasPlace = !tally.isAggregate || !isFull && waiting.take(for: payer.caller, of: payer.user)
            if hasPlace, !isFull {
                unwritten[partition, default: AuditLog.Unwritten()].entries.append((entry, payer))
                if tally.event.isRefusal { unwritten[partition]?.refusals += 1 }
            } else {
                if hasPlace { waiting.leave(for: payer.caller, of: payer.user) }
                if lost[partition] != nil || lost.count < AuditLog.maximumLosers {
                    lost[partition, default: 0] += entry.count
                }
            }
        }
    }
}
