import BrokerSystem
import Dispatch
import Glibc

/// Watches logind's events about the user's sessions and the machine's sleep. They are reasons to lock, never to unlock: every
/// process of the person can make logind send `Unlock`.
package enum SessionWatch {
    /// The seconds until the next attempt to reach the system bus.
    private static let pause: UInt32 = 5

    /// Watches from now on until the process ends. Does nothing if there is nothing to watch.
    ///
    /// - Parameters:
    ///   - onEvent: called for each event. The machine does not sleep before this has returned, as far as logind lets it wait (5 s,
    ///     unless configured otherwise).
    ///   - onTrouble: called with an `errno` if logind is not reachable; the watch tries again.
    package static func start(
        sleep: Bool, screen: Bool, _ onEvent: @escaping @Sendable (SessionEvent) async -> Void,
        onTrouble: @escaping @Sendable (Int32) -> Void
    ) {
        guard sleep || screen else { return }
        let status = DetachedThread.start {
            while true {
                onTrouble(LoginSignals.watch(sleep: sleep, screen: screen) { Self.wait(for: onEvent, $0) })
                Glibc.sleep(Self.pause)
            }
        }
        if status != 0 { onTrouble(status) }
    }

    /// Runs on the watch's own thread, which may block.
    private static func wait(for onEvent: @escaping @Sendable (SessionEvent) async -> Void, _ event: SessionEvent) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await onEvent(event)
            done.signal()
        }
        done.wait()
    }
}
