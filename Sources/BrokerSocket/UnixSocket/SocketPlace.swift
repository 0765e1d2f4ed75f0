/// The place of the broker's own socket.
package struct SocketPlace: Sendable, Equatable {
    package enum Audience: Sendable {
        /// User mode: the socket has mode 0600.
        case owner
        /// System mode: every user may connect (0666); the uid decides who is served.
        case everybody
    }

    /// Absolute.
    package var path: String
    package var audience: Audience
    /// Whether the folder is made for this socket alone, and no one else binds in it. Then it is not locked: a process that gets
    /// the folder could hold the lock.
    package var isAlone: Bool

    package init(path: String, audience: Audience = .owner, isAlone: Bool = false) {
        self.path = path
        self.audience = audience
        self.isAlone = isAlone
    }
}
