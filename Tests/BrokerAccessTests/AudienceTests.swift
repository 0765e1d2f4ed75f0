import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Users that a broker serves, and their partitions") struct AudienceTests {
    @Test("a broker for many users refuses the overflow uid, which stands for many users")
    func overflow() async throws {
        let bed = try await AccessBed()
        bed.policy.apply(AccessSettings(audience: .everybody(overflow: 65_534)))
        #expect(throws: Never.self) { try bed.policy.serves(PeerCredentials(uid: 4_711, gid: 1, pid: 1)) }
        #expect(throws: BrokerError.self) { try bed.policy.serves(PeerCredentials(uid: 65_534, gid: 1, pid: 1)) }
        bed.policy.apply(AccessSettings(audience: .everybody(overflow: nil)))
        #expect(throws: Never.self) { try bed.policy.serves(PeerCredentials(uid: 65_534, gid: 1, pid: 1)) }
    }
}
