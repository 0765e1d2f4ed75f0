import BrokerBus
import BrokerSystem
import Glibc
import Synchronization

/// What happens to the person's keyring, as far as a locked vault may open because of it.
enum KeyringWatch {
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// A bus that is not there yet is looked for after a second, and then more and more seldom. In seconds.
    private static let longestPause: UInt32 = 30
    /// Questions that the keyring asks are none of these: an attempt may begin and end one.
    private static let rules =
        [Keyring.ownerRule]
        + ["Secret.Service", "Secret.Collection", "DBus.Properties"].map {
            "sender='\(Keyring.service)',interface='org.freedesktop.\($0)'"
        }

    /// Comes once when it listens, and then whenever the service appears or something in it changes. Several that nobody has
    /// waited for are one.
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

    /// - Throws: when the bus is not there, or ends.
    private static func listen(until end: End, _ changed: @escaping () -> Void) throws(BusError) {
        let bus = try Bus()
        for rule in rules { try bus.onSignal(rule) { _ in changed() } }
        changed()
        while !end.isReached.load(ordering: .relaxed) {
            try bus.wait(for: .seconds(60)) { end.isReached.load(ordering: .relaxed) }
        }
    }
}
