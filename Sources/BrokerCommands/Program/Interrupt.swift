import BrokerSystem
import Glibc
import Synchronization

/// Turns Ctrl-C and termination into a request to stop instead of a sudden end.
enum Interrupt {
    /// The descriptor for the signal handler, which may only write.
    private static let notification = Atomic<Int32>(-1)

    /// The last signal received, 0 for none; reflected in the exit status, as shells expect.
    static let received = Atomic<Int32>(0)

    /// Ends the program at the first signal, after `tidying`, with the status that shells expect.
    static func endBy(_ tidying: @escaping @Sendable () -> Void) {
        onInterrupt {
            tidying()
            exit(128 + received.load(ordering: .relaxed))
        }
    }

    /// Ends the program at the first signal, with the terminal's mode restored. A handler that was set before stays.
    static func endUnlessHandled() {
        if notification.load(ordering: .sequentiallyConsistent) < 0 { endBy {} }
    }

    /// Waits the full time despite signals.
    static func sleep(seconds: Int) {
        var (time, left) = (timespec(tv_sec: seconds, tv_nsec: 0), timespec())
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
    }

    /// A signal ignored from the start (nohup, a script's background job) stays ignored, here and in a child that
    /// shares signals; a handled one is reset for the child.
    static func take(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        sigaction(number, nil, &action)
        // SIG_IGN is not a real pointer, but 1.
        let isIgnored = withUnsafeBytes(of: action.__sigaction_handler) { $0.load(as: UInt.self) == 1 }
        if !isIgnored { signal(number, handler) }
    }

    /// Calls `action`, on a thread of its own, whenever SIGINT, SIGTERM or SIGHUP arrives. A second signal ends the
    /// program at once, as it would have without this.
    static func onInterrupt(_ action: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = ends[0]
        let status = DetachedThread.start {
            var byte: UInt8 = 0
            while read(reader, &byte, 1) == 1 {
                received.store(Int32(byte), ordering: .relaxed)
                // A second signal ends the program without further cleanup.
                TerminalMode.restore()
                action()
            }
        }
        // Without a thread, the signals keep their default effect.
        guard status == 0 else { return }
        notification.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            take(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interrupt.notification.load(ordering: .sequentiallyConsistent), &byte, 1)
                signal(number, SIG_DFL)
            }
        }
    }
}
