import BrokerBus
import BrokerSystem
import Glibc
import Synchronization

/// Events of the user's keyring after which a locked vault may open.
enum KeyringWatch {
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// In seconds. The broker retries a missing bus after one second, then at growing intervals.
    private static let longestPause: UInt32 = 30
    /// Prompts of the keyring are not included: an attempt may begin and end one.
    private static let rules =
        [Keyring.ownerRule]
        + ["Secret.Service", "Secret.Collection", "DBus.Properties"].map {
            "sender='\(Keyring.service)',interface='org.freedesktop.\($0)'"
        }

    /// Yields once when it listens, and then whenever the service appears or something in it changes. Pending events are merged
    /// into one.
    static func changes() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let end = End()
            continuation.onTermination = { _ in end.isReached.store(true, ordering: .relaxed) }
            let status = DetachedThread.start {
                var pause: UInt32 = 1
                while !end.isReached.load(ordering: .relaxed) {
                    do throws(BusError) {
                        try listen(until: end) {
                            pause = 1
                            continuation.yield()
                        }
                    } catch {}
                    sleep(pause)
                    pause = min(pause * 2, longestPause)
                }
            }
            if status != 0 { continuation.finish() }
        }
    }

    /// - Throws: if there is no bus, or when it closes.
    private static func listen(until end: End, _ changed: @escaping () -> Void) throws(BusError) {
        let bus = try Bus()
        for rule in rules { try bus.onSignal(rule) { _ in changed() } }
        changed()
        while !end.isReached.load(ordering: .relaxed) {
            try bus.wait(for: .seconds(60)) { end.isReached.load(ordering: .relaxed) }
        }
    }
}
