import BrokerModel
import Synchronization

/// Bytes that differ each time but are the same in every run.
package final class CountingRandom: RandomSource {
    private let counter = Mutex<UInt64>(0)
    package init() {}

    package func bytes(_ count: Int) -> [UInt8] {
        var value = counter.withLock { counter in
            counter += 1
            return counter &* 0x9E37_79B9_7F4A_7C15
        }
        return (0..<count).map { _ in
            value ^= value << 13
            value ^= value >> 7
            value ^= value << 17
            return UInt8(truncatingIfNeeded: value)
        }
    }
}
