import BrokerSocket
import Testing

@Suite("Limits of connections")
struct LineLimitsTests {
    @Test(
        "all places fit into the descriptors of the process, and some are kept for who has few",
        arguments: [64, 100, 160, 600, 1_024, 4_096])
    func descriptors(most: Int) {
        var limits = LineLimits()
        limits.fit(descriptors: most)
        #expect(limits.connections >= 8 && limits.reserve >= 2)
        // Each has its socket and a handle on its peer; 36 are the process's own.
        #expect((limits.connections + limits.reserve) * 2 + 36 <= most)
        #expect(most < 4_096 || limits.connections == 256 && limits.reserve == 16)
    }
}
