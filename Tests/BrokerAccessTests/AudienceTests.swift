import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Whom a broker serves, and as whom") struct AudienceTests {
    @Test("a broker for many turns away the uid that stands for all whom it cannot tell apart")
    func overflow() async throws {
        let bed = try await AccessBed()
        bed.policy.apply(AccessSettings(audience: .everybody(overflow: 65_534)))
        #expect(throws: Never.self) { try bed.policy.serves(PeerCredentials(uid: 4_711, gid: 1, pid: 1)) }
        #expect(throws: BrokerError.self) { try bed.policy.serves(PeerCredentials(uid: 65_534, gid: 1, pid: 1)) }
        bed.policy.apply(AccessSettings(audience: .everybody(overflow: nil)))
        #expect(throws: Never.self) { try bed.policy.serves(PeerCredentials(uid: 65_534, gid: 1, pid: 1)) }
    }
}
