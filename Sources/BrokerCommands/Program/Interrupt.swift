import BrokerSystem
import Glibc
import Synchronization

/// Ctrl-C and termination as a request to stop, instead of a sudden end.
enum Interrupt {
    /// Where the signal handler writes: it may do nothing else.
    private static let notification = Atomic<Int32>(-1)

    /// The last signal that arrived, 0 for none: the exit status tells of it, as a shell expects.
    static let received = Atomic<Int32>(0)

    /// Ends the program at the first signal, with the status that a shell expects, after `tidying`.
    static func endBy(_ tidying: @escaping @Sendable () -> Void) {
        onInterrupt {
            tidying()
            exit(128 + received.load(ordering: .relaxed))
        }
    }

    /// Waits, whatever signals arrive.
    static func sleep(seconds: Int) {
        var (time, left) = (timespec(tv_sec: seconds, tv_nsec: 0), timespec())
        while nanosleep(&time, &left) != 0, errno == EINTR { time = left }
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
                // A second signal ends the program without another word.
                TerminalMode.restore()
                action()
            }
        }
        // Without a thread the signals keep their usual effect.
        guard status == 0 else { return }
        notification.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interrupt.notification.load(ordering: .sequentiallyConsistent), &byte, 1)
                signal(number, SIG_DFL)
            }
        }
    }
}
