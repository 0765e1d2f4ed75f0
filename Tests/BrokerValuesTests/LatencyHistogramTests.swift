import BrokerValues
import Testing

@Suite("Latency histograms")
struct LatencyHistogramTests {
    @Test("a duration is in the first bucket that it does not exceed, or else in the last")
    func buckets() {
        let histogram = LatencyHistogram()
        for duration in [
            Duration.zero, .microseconds(50), .microseconds(51), .milliseconds(1), .seconds(30), .seconds(31),
            .seconds(-1),
        ] { histogram.add(duration) }
        let found = zip(LatencyHistogram.bounds + [.max], histogram.counts).filter { $0.1 > 0 }
        #expect(found.map(\.0) == [50, 100, 1000, 30_000_000, .max])
        #expect(found.map(\.1) == [3, 1, 1, 1, 1])
        #expect(histogram.sum == 50 + 51 + 1000 + 61_000_000)
        #expect(LatencyHistogram.bounds == LatencyHistogram.bounds.sorted())
    }
}
