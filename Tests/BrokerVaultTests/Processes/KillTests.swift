import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("A broker that is killed in the middle of writing")
struct KillTests {
    static let slots = 8

    /// What must be in each slot, as `vault-torture loop` announced and confirmed it.
    private struct Ledger {
        var confirmed: [Int: Int64] = [:]
        /// The change that was under way at the end: made or not, but nothing in between.
        var open: (slot: Int, value: Int64?)?
        var highest: Int64 = 0
        var confirmations = 0

        mutating func read(_ output: String) throws {
            open = nil
            for line in output.split(separator: "\n", omittingEmptySubsequences: true) {
                let words = line.split(separator: " ")
                guard words.count == 3, let slot = Int(words[1]) else { throw ProcessFailure("unexpected: \(line)") }
                let value = Int64(words[2])
                highest = max(highest, value ?? 0)
                if words[0] == "begin" {
                    open = (slot, value)
                } else {
                    confirmed[slot] = value
                    confirmations += 1
                    open = nil
                }
            }
        }

        mutating func compare(_ found: [Int: Int64]) throws {
            for slot in 0..<KillTests.slots where found[slot] != confirmed[slot] {
                guard let open, open.slot == slot, found[slot] == open.value else {
                    throw ProcessFailure(
                        "slot \(slot): found \(String(describing: found[slot])), confirmed "
                            + "\(String(describing: confirmed[slot])), under way \(String(describing: open))")
                }
            }
            confirmed = found
        }
    }

    /// Every record, opened; throws if a pair disagrees.
    private func readPairs(_ vault: Vault) throws -> [Int: Int64] {
        let partition = Partition(uid: 1000)
        func values<Record: VaultRecord>(
            _ type: Record.Type, _ value: (Record) -> (TokenOwner, Int64)
        ) throws -> [Int: Int64] {
            var values: [Int: Int64] = [:]
            for stored in try vault.loadAll(type, in: partition) {
                let (owner, number) = value(stored.record)
                let slot = try #require(Int(owner.clientID.dropFirst("client-".count)))
                try #require(try vault.secret(of: stored.sealed).revealed().hasPrefix("\(slot)/\(number) "))
                try #require(values.updateValue(number, forKey: slot) == nil)
            }
            return values
        }
        let access = try values(AccessTokenRecord.self) { ($0.owner, $0.cachedAt) }
        let refresh = try values(RefreshTokenRecord.self) { ($0.owner, $0.cachedAt) }
        try #require(access == refresh, "a pair is torn")
        return access
    }

    private func round(_ bed: VaultBed, _ ledger: inout Ledger, waitingForWrites: Bool) async throws {
        let tool = try PackageTree.program("vault-torture")
        let process = try bed.bed.start(Launch(tool, ["loop", bed.path, "\(ledger.highest + 1)"]))
        if waitingForWrites {
            while try process.output.resourceValues(forKeys: [.fileSizeKey]).fileSize == 0 {
                try process.requireRunning()
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        try await Task.sleep(for: .microseconds(Int.random(in: 0...(waitingForWrites ? 20_000 : 40_000))))
        process.send(SIGKILL)
        #expect(await process.exitStatus() == .killed(signal: SIGKILL))
        try ledger.read(process.outputText)
        try await bed.use { vault in
            try ledger.compare(readPairs(vault))
            let found = try vault.statistics()
            try #require(found.quarantined == 0 && found.missing == 0 && !found.isRolledBack, "a false alarm")
        }
    }

    @Test("loses nothing it confirmed and tears nothing apart, 200 times", .timeLimit(.minutes(10)))
    func killedWhileWriting() async throws {
        try await withVaultBed { bed in
            var ledger = Ledger()
            for _ in 0..<200 { try await round(bed, &ledger, waitingForWrites: true) }
            #expect(ledger.confirmations > 200)
        }
    }

    @Test("leaves a directory that the next start can use, also when it was the first start", .timeLimit(.minutes(5)))
    func killedAtFirstStart() async throws {
        for _ in 0..<40 {
            try await withVaultBed { bed in
                var ledger = Ledger()
                for _ in 0..<2 { try await round(bed, &ledger, waitingForWrites: false) }
            }
        }
    }
}
