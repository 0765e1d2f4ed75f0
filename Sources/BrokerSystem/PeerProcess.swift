import Glibc

/// The process that connected, held so that a number given to another process later is noticed.
///
/// A number from SO_PEERCRED may be reused once its process has ended. Who reads `/proc/PID` asks ``isRunning`` after
/// the last read: when it is still true, what was read belonged to the process that connected.
package final class PeerProcess: Sendable {
    private let descriptor: Int32

    /// - Parameter descriptor: a pidfd (SO_PEERPIDFD, Linux 6.5; before that pidfd_open); it is closed with this object.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// False from the moment the process has exited, also while nobody has waited for it yet.
    package var isRunning: Bool {
        // A pidfd becomes readable when its process ends.
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
