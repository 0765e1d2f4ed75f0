import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Room in the vault")
struct PartitionQuotaTests {
    private func isFull(_ quota: PartitionQuota, _ partition: Partition = AccessBed.partition) -> Bool {
        do throws(BrokerError) {
            try quota.requireRoom(in: partition)
            return false
        } catch {
            #expect(error.kind == .throttled && error.reason == .quotaReached)
            return true
        }
    }

    @Test("there is always room without a limit, and others' records and the audit log take none")
    func room() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        #expect(!isFull(PartitionQuota(vault: bed.vault, clock: bed.clock) { nil }))
        let quota = PartitionQuota(vault: bed.vault, clock: bed.clock) { 1 }
        #expect(isFull(quota))
        let other = Partition(uid: 4711)
        let log = bed.auditLog()
        var facts = PeerFacts.outside
        facts.uid = other.uid
        log.note(AuditEvent(method: "apps.list", outcome: "done"), by: Caller(facts), "c-1")
        await log.flush()
        #expect(try bed.vault.statistics(of: other).recordBytes > 0)
        #expect(!isFull(quota, other))
    }

    @Test("rows are counted every sixteen changes, and a full partition again after a second")
    func counting() async throws {
        let bed = try await AccessBed()
        let quota = PartitionQuota(vault: bed.vault, clock: bed.clock) { 1 }
        #expect(!isFull(quota))
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        for _ in 0..<PartitionQuota.worksOfOneCount { #expect(!isFull(quota)) }
        #expect(isFull(quota))
        _ = try await bed.directory.remove(named: "mail", in: AccessBed.partition)
        #expect(isFull(quota))
        bed.clock.advance(bySeconds: 1)
        #expect(!isFull(quota))
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        quota.countAnew(AccessBed.partition)
        #expect(isFull(quota))
    }
}
