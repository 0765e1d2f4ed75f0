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
            let isNeeded = state.withLock { $0.hasOnlyInMemory(partition) && $0.chains.peek(partition) == nil }
            if isNeeded { await write(partition, isLast: false) }
        }
    }

    private func write(isLast: Bool) async {
        await turns.run { [self] in
            let partitions = state.withLock { state in
                state.takeTallies()
                let partitions = Set(state.unwritten.keys).union(state.lost.keys)
                return isLast ? partitions.union(state.chains.keys) : partitions
            }
            for partition in partitions { await write(partition, isLast: isLast) }
        }
    }

    private func write(_ partition: Partition, isLast: Bool) async {
        let (entries, lost) = state.withLock { ($0.unwritten[partition] ?? [], $0.lost[partition] ?? 0) }
        do throws(VaultError) {
            var chain = try chain(of: partition)
            for entry in entries { chain.append(entry, keeping: mostBlocks) }
            if lost > 0 {
                var entry = AuditEntry(time: clock.now, method: "audit.lost", outcome: "done")
                entry.count = lost
                chain.append(entry, keeping: mostBlocks)
            }
            if isLast {
                chain.append(
                    AuditEntry(time: clock.now, method: "broker.stop", outcome: "done"), keeping: mostBlocks)
            }
            chain.mark(isComplete: isLast)
            try await commit(&chain, in: partition)
            let gone = state.withLock { [chain] state in
                state.written(entries.count, of: partition)
                let rest = (state.lost[partition] ?? 0) - lost
                state.lost[partition] = rest > 0 ? rest : nil
                let open = OpenChain(partition: partition, chain: chain)
                state.chains.keep(open, for: partition, of: partition, weight: chain.weight)
                return state.chains.makeRoom()
            }
            for open in gone { try await letGo(open) }
        } catch {
            // While the broker is locked the entries wait; they hold no secret.
            guard error != .locked else { return }
            log.warning("the audit log could not be written; it is tried again", metadata: ["cause": "\(error)"])
        }
    }

    /// Nothing is missing on disk of what goes from memory, whenever the broker ends.
    private func letGo(_ open: OpenChain) async throws(VaultError) {
        var chain = open.chain
        let isWhole = state.withLock { state in
            // What comes from now on begins it again.
            state.beginning.remove(open.partition)
            return !state.hasOnlyInMemory(open.partition)
        }
        chain.mark(isComplete: isWhole)
        try await commit(&chain, in: open.partition)
    }

    private func commit(_ chain: inout AuditChain, in partition: Partition) async throws(VaultError) {
        let (blocks, dropped) = chain.take()
        var change = VaultChange(in: partition, deletes: dropped)
        for block in blocks { change.puts.append(try vault.seal(block, secret: nil, in: partition).sealed) }
        change.puts.append(try vault.seal(chain.head, secret: nil, in: partition).sealed)
        try await vault.commit(change)
    }

    /// The log as this run goes on with it. Its first entry says that the broker started, and whether something is missing
    /// before.
    private func chain(of partition: Partition) throws(VaultError) -> AuditChain {
        if let open = state.withLock({ $0.chains.use(partition) }) { return open.chain }
        var start = AuditEntry(time: startedOn, method: "broker.start", outcome: "done")
        guard let head = try vault.loadAll(AuditHeadRecord.self, in: partition).first?.record else {
            var chain = AuditChain(in: run)
            chain.append(start, keeping: mostBlocks)
            return chain
        }
        let tail = try vault.loadAll(AuditBlockRecord.self, in: partition).map(\.record).max { $0.number < $1.number }
        var chain = AuditChain(after: head, tail: tail, in: run)
        guard head.run != run else { return chain }
        if !head.isComplete { start.reason = "interrupted" }
        chain.append(start, keeping: mostBlocks)
        return chain
    }
}

extension AuditLog.State {
    /// - Parameter count: of the partition's entries, the first ones.
    mutating func written(_ count: Int, of partition: Partition) {
        for entry in unwritten[partition]?.prefix(count) ?? [] {
            waiting.leave(for: entry.caller ?? .many, of: partition)
        }
        unwritten[partition]?.removeFirst(count)
        if unwritten[partition]?.isEmpty == true { unwritten[partition] = nil }
    }

    /// Whether something of it would be gone with the broker.
    fileprivate func hasOnlyInMemory(_ partition: Partition) -> Bool {
        unwritten[partition] != nil || order.contains { $0.caller.partition == partition }
    }

    fileprivate mutating func takeTallies() {
        isWritingScheduled = false
        beginning = []
        for tally in order {
            let partition = tally.caller.partition
            let entry = tally.take()
            let isFull = unwritten[partition].map { $0.count >= AuditLog.mostUnwritten } ?? false
            let hasPlace = !tally.isOfMany || !isFull && waiting.take(for: .many, of: partition)
            if hasPlace, !isFull {
                unwritten[partition, default: []].append(entry)
            } else {
                if hasPlace { waiting.leave(for: tally.caller.identity, of: partition) }
                if lost[partition] != nil || lost.count < AuditLog.mostLosers {
                    lost[partition, default: 0] += entry.count
                }
            }
        }
        (tallies, order) = ([:], [])
    }
}
