import Glibc

/// What the kernel knows about a Unix socket.
enum StartupFailureResponder {
    /// How much of what was sent the other side has not read: more than 0 while a byte is left (unix(7), `SIOCOUTQ`).
    static func unread(_ descriptor: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
}
