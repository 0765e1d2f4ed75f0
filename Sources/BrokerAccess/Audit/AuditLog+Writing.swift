import BrokerModel
import BrokerValues

extension AuditLog {
    /// Writes what happened since the last time.
    package func flush() async { await write(isLast: false) }

    /// Writes the rest, and that nothing is missing.
    package func stop() async { await write(isLast: true) }

    /// Writes that this run has something of a partition: whenever it ends from now on, the next one knows whether something is
    /// missing.
    func begin(_ partition: Partition) async {
        await turns.run { [self] in
            let isNeeded = state.withLock { $0.hasOnlyInMemory(partition) && $0.books.peek(partition) == nil }
            if isNeeded { await write(partition, isLast: false) }
        }
    }

    private func write(isLast: Bool) async {
        await turns.run { [self] in
            let partitions = state.withLock { state in
                state.takeTallies()
                let partitions = Set(state.unwritten.keys).union(state.lost.keys)
                return isLast ? partitions.union(state.books.keys) : partitions
            }
            for partition in partitions { await write(partition, isLast: isLast) }
        }
    }

    private func write(_ partition: Partition, isLast: Bool) async {
        let (entries, lost) = state.withLock { state in
            (state.unwritten[partition]?.entries.map(\.entry) ?? [], state.lost[partition] ?? 0)
        }
        do throws(VaultError) {
            var book = try book(of: partition)
            for entry in entries { book.append(entry, keeping: mostBlocks) }
            if lost > 0 {
                var entry = AuditEntry(time: clock.now, method: "audit.lost", outcome: "done")
                entry.count = lost
                book.append(entry, keeping: mostBlocks)
            }
            if isLast {
                book.append(
                    AuditEntry(time: clock.now, method: "broker.stop", outcome: "done"), keeping: mostBlocks)
            }
            book.mark(isComplete: isLast)
            try await commit(&book, in: partition)
            let gone = state.withLock { [book] state in
                state.written(entries.count, of: partition)
                let rest = (state.lost[partition] ?? 0) - lost
                state.lost[partition] = rest > 0 ? rest : nil
                let open = LoadedAudit(partition: partition, book: book)
                state.books.keep(open, for: partition, of: partition, weight: book.weight)
                return state.books.makeRoom()
            }
            for open in gone { try await letGo(open) }
        } catch {
            // While the broker is locked the entries wait; they hold no secret.
            guard error != .locked else { return }
            log.warning("the audit log could not be written; it is tried again", metadata: ["cause": "\(error)"])
        }
    }

    /// Nothing is missing on disk of what goes from memory, whenever the broker ends.
    private func letGo(_ open: LoadedAudit) async throws(VaultError) {
        var book = open.book
        let isWhole = state.withLock { state in
            // What comes from now on begins it again.
            state.beginning.remove(open.partition)
            return !state.hasOnlyInMemory(open.partition)
        }
        book.mark(isComplete: isWhole)
        try await commit(&book, in: open.partition)
    }

    private func commit(_ book: inout PartitionAudit, in partition: Partition) async throws(VaultError) {
        let (blocks, dropped) = book.take()
        var change = VaultChange(in: partition, deletes: dropped)
        for block in blocks { change.puts.append(try vault.seal(block, secret: nil, in: partition).sealed) }
        change.puts.append(try vault.seal(book.head, secret: nil, in: partition).sealed)
        try await vault.commit(change)
    }

    /// The log as this run goes on with it. Its first entry says that the broker started, and whether something is missing
    /// before.
    private func book(of partition: Partition) throws(VaultError) -> PartitionAudit {
        if let open = state.withLock({ $0.books.use(partition) }) { return open.book }
        var start = AuditEntry(time: startedOn, method: "broker.start", outcome: "done")
        guard let head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record else {
            var book = PartitionAudit(in: run)
            book.append(start, keeping: mostBlocks)
            return book
        }
        var book = PartitionAudit(
            after: head, try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record), in: run)
        guard head.run != run else { return book }
        if !head.isComplete { start.reason = "interrupted" }
        book.append(start, keeping: mostBlocks)
        return book
    }
}

extension AuditLog.State {
    /// - Parameter count: of the partition's entries, the first ones.
    mutating func written(_ count: Int, of partition: Partition) {
        for (entry, payer) in unwritten[partition]?.entries.prefix(count) ?? [] {
            waiting.leave(for: payer, of: partition)
            if AuditRing(outcome: entry.outcome) == .refusals { unwritten[partition]?.refusals -= 1 }
        }
        unwritten[partition]?.entries.removeFirst(count)
        if unwritten[partition]?.entries.isEmpty == true { unwritten[partition] = nil }
    }

    /// Whether something of it would be gone with the broker.
    fileprivate func hasOnlyInMemory(_ partition: Partition) -> Bool {
        unwritten[partition] != nil || order.contains { $0.caller.partition == partition }
    }

    /// Of the broker itself: where there is no room it is only counted.
    mutating func add(_ entry: AuditEntry, of partition: Partition) {
        let count = unwritten[partition]?.entries.count ?? 0
        if count < AuditLog.mostUnwritten, waiting.take(for: nil, of: partition) {
            unwritten[partition, default: AuditLog.Unwritten()].entries.append((entry, nil))
        } else if lost[partition] != nil || lost.count < AuditLog.mostLosers {
            lost[partition, default: 0] += 1
        }
    }

    fileprivate mutating func takeTallies() {
        isWritingScheduled = false
        beginning = []
        for tally in order {
            let partition = tally.caller.partition
            let entry = tally.take()
            let isFull = unwritten[partition]?.isFull(for: tally) ?? false
            let hasPlace = !tally.isAggregate || !isFull && waiting.take(for: nil, of: partition)
            if hasPlace, !isFull {
                unwritten[partition, default: AuditLog.Unwritten()].entries.append((entry, tally.payer))
                if tally.event.isRefusal { unwritten[partition]?.refusals += 1 }
            } else {
                if hasPlace { waiting.leave(for: tally.payer, of: partition) }
                if lost[partition] != nil || lost.count < AuditLog.mostLosers {
                    lost[partition, default: 0] += entry.count
                }
            }
        }
        (tallies, order, talliesOfMany) = ([:], [], 0)
    }
}
