import BrokerSocket
import Testing

@Suite("Limits of connections")
struct ConnectionLimitsTests {
    @Test(
        "all places fit into the descriptors of the process, and some are kept for who has few",
        arguments: [64, 100, 160, 600, 1_024, 4_096])
    func descriptors(most: Int) {
        var limits = ConnectionLimits()
        limits.fit(descriptors: most)
        #expect(limits.connections >= 8 && limits.reserve >= 2)
        #expect(limits.lingering >= 1 && limits.waiting >= 1 && limits.arrivals >= 2)
        // Each has its socket and, unless it lingers, a handle on its peer; 36 are the process's own.
        let peers = limits.connections + limits.reserve + limits.waiting + limits.arrivals
        #expect(peers * 2 + limits.lingering + 36 <= most)
        #expect(most < 4_096 || limits.connections == 256 && limits.reserve == 16)
    }
}
