import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("A broker that is killed while writing, or whose machine loses power")
struct KillTests {
    static let slots = 8

    /// The expected value of each slot, as `vault-torture loop` announced and confirmed it.
    private struct Ledger {
        var confirmed: [Int: Int64] = [:]
        /// The change that was under way at the end: done or not, but nothing in between.
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

    /// Opens every record; throws if a pair disagrees.
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

    /// A process writes until it is stopped at one of its steps; then the next one reads.
    private func round(
        _ bed: VaultBed, _ points: FaultPoints, _ ledger: inout Ledger, _ fault: FaultPoints.Fault, at step: Int
    ) async throws {
        try points.arm(fault, at: step)
        let loop = [try PackageTree.program("vault-torture"), "loop", bed.path, "\(ledger.highest + 1)"]
        let process = try bed.bed.start(Launch(points.wrapper[0], points.wrapper.dropFirst() + loop))
        try #require(await process.exitStatus() == .killed(signal: SIGKILL), "\(process.logTail)")
        try points.disarm()
        do {
            try ledger.read(process.outputText)
            try await bed.use { vault in
                try ledger.compare(readPairs(vault))
                let found = try vault.statistics()
                try #require(found.quarantined == 0 && found.missing == 0 && !found.isRolledBack, "a false alarm")
            }
        } catch {
            throw ProcessFailure("\(fault) at step \(step): \(error)")
        }
    }

    /// A commit takes about twenty steps. First each step, then samples until far beyond the first checkpoints.
    private static let steps = Array(1...30) + Array(stride(from: 31, through: 1000, by: 37))

    @Test(
        "a kill at any step loses no confirmed change and tears no pair apart",
        arguments: FaultPoints.Fault.endings)
    func killedWhileWriting(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let vaultBed = VaultBed(bed)
            let points = try await FaultPoints.make(watching: bed.makeDirectory("state"), in: bed)
            var ledger = Ledger()
            for step in Self.steps { try await round(vaultBed, points, &ledger, fault, at: step) }
            #expect(ledger.confirmations > 200)
        }
    }

    @Test(
        "a kill leaves a directory that the next start can use, even after the first start",
        arguments: FaultPoints.Fault.endings)
    func killedAtFirstStart(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            let vaultBed = VaultBed(bed)
            let points = try await FaultPoints.make(watching: bed.makeDirectory("state"), in: bed)
            for step in 1...40 {
                var ledger = Ledger()
                try await round(vaultBed, points, &ledger, fault, at: step)
                try FileManager.default.removeItem(atPath: vaultBed.anchors)
                for name in try vaultBed.contents().keys { try FileManager.default.removeItem(at: vaultBed.file(name)) }
            }
        }
    }
}
