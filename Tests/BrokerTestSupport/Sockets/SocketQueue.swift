import Glibc

/// The kernel's information about a Unix socket.
enum SocketQueue {
    /// The amount of sent data that the peer has not read: more than 0 while a byte is left (unix(7), `SIOCOUTQ`).
    static func unread(_ descriptor: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
    }
}
