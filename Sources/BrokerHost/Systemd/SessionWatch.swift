import BrokerSystem
import CDesktop
import Dispatch
import Glibc

/// Events of logind about the user's sessions and the machine's sleep: reasons to lock, never to unlock. Every process of the
/// person can make logind send `Unlock`.
package struct SessionWatch: Sendable {
    package enum Event: String, Sendable {
        case sleeps = "the machine goes to sleep"
        case screenLocked = "the screen was locked"
    }

    package var watchesSleep: Bool
    package var watchesScreen: Bool

    package init(sleep: Bool, screen: Bool) {
        watchesSleep = sleep
        watchesScreen = screen
    }

    /// A system bus that went away may come back.
    private static let pause: UInt32 = 5

    /// Watches from now on until the process ends. Does nothing if there is nothing to watch.
    ///
    /// - Parameters:
    ///   - onEvent: the machine does not sleep before this has returned, as far as logind lets it wait (5 s, unless configured otherwise).
    ///   - onTrouble: called with an `errno` if logind is not reachable; the watch tries again.
    package func start(
        _ onEvent: @escaping @Sendable (Event) async -> Void, onTrouble: @escaping @Sendable (Int32) -> Void
    ) {
        guard watchesSleep || watchesScreen else { return }
        let (sleep, screen) = (watchesSleep, watchesScreen)
        let status = DetachedThread.start {
            let box = Unmanaged.passRetained(Handler(onEvent))
            while true {
                onTrouble(
                    broker_login_watch(
                        getuid(), sleep, screen,
                        { context, event in
                            guard let context else { return }
                            Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue().handle(event)
                        }, box.toOpaque()))
                Glibc.sleep(Self.pause)
            }
        }
        if status != 0 { onTrouble(status) }
    }

    private final class Handler: Sendable {
        private let onEvent: @Sendable (Event) async -> Void

        init(_ onEvent: @escaping @Sendable (Event) async -> Void) { self.onEvent = onEvent }

        /// Runs on the watch's own thread, which may block.
        func handle(_ event: broker_login_event) {
            let done = DispatchSemaphore(value: 0)
            Task { [onEvent] in
                await onEvent(event == BROKER_LOGIN_SLEEPS ? .sleeps : .screenLocked)
                done.signal()
            }
            done.wait()
        }
    }
}
