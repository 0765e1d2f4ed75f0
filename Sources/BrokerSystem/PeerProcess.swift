import Glibc

/// The connected process, referred to by a pidfd so that a reused process id is detected.
///
/// A process id from SO_PEERCRED may be reused once its process has ended. Code that reads `/proc/PID` checks ``isRunning`` after
/// the last read: if it is still true, the data belongs to the process that connected.
package final class PeerProcess: Sendable {
    private let descriptor: Int32

    /// - Parameter descriptor: a pidfd (SO_PEERPIDFD, Linux 6.5; before that pidfd_open); it is closed with this object.
    package init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// False from the moment the process has exited, even before it has been waited for.
    package var isRunning: Bool {
        // A pidfd becomes readable when its process ends.
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 0
    }
}
