import BrokerValues
import Synchronization

extension Member {
    static func correlationID(_ path: WritableKeyPath<Owner, String?> & Sendable) -> Member {
        .optional(
            "correlationId", path, "Ties the request to logs, here and at the provider; made when absent.",
            .correlationID)
    }
}

/// Connects an app's call, the broker's log and the provider's log.
package enum CorrelationID {
    /// A UUID of version 4 (RFC 9562), in lower case.
    ///
    /// It must be unique, not secret: 128 bits are drawn once for the process and combined with a counter, which saves
    /// each request a system call. (Foundation's opens a file for each, which costs more than reading a request.)
    package static func make() -> String {
        let number = counter.add(1, ordering: .relaxed).newValue
        let high = mix(seed.0 &+ number &* 0x9e37_79b9_7f4a_7c15) & 0xffff_ffff_ffff_0fff | 0x4000
        let low = mix(seed.1 ^ number) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        return text(high, low)
    }

    private static let seed = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))
    private static let counter = Atomic<UInt64>(0)

    /// SplitMix64's finalizer: bijective, so different numbers stay different.
    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            let bytes = UnsafeMutableRawBufferPointer(text)
            // Groups of 8, 4, 4, 4 and 12 digits, each with its dash before it.
            bytes.storeBytes(of: digits(high >> 32).bigEndian, as: UInt64.self)
            let (second, fourth) = (digits(high), digits(low >> 32))
            for (position, four) in [(9, second >> 32), (14, second), (19, fourth >> 32), (24, fourth)] {
                let four = UInt32(truncatingIfNeeded: four)
                bytes[position - 1] = UInt8(ascii: "-")
                bytes.storeBytes(of: four.bigEndian, toByteOffset: position, as: UInt32.self)
            }
            bytes.storeBytes(of: digits(low).bigEndian, toByteOffset: 28, as: UInt64.self)
            return bytes.count
        }
    }

    /// The lower 32 bits as eight hexadecimal digits, the first in the highest byte; all eight at once.
    private static func digits(_ number: UInt64) -> UInt64 {
        var halves = number & 0xffff_ffff
        halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff
        halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff
        halves = (halves | halves << 4) & 0x0f0f_0f0f_0f0f_0f0f
        // For digits from ten on, six more carries into the bit above.
        let letters = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return halves &+ 0x3030_3030_3030_3030 &+ letters &* UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }

    /// The caller's own, if it is well-formed: a refused request should be found again, too.
    static func given(in params: JSONNode) -> String? {
        guard case .string(let text)? = params["correlationId"],
            (try? Rule<String>.correlationID.check(text)) != nil
        else { return nil }
        return text
    }
}
