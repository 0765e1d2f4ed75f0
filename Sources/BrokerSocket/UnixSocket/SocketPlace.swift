/// Where the broker puts its own socket.
package struct SocketPlace: Sendable, Equatable {
    package enum Audience: Sendable {
        /// User mode: the socket has mode 0600.
        case owner
        /// System mode: everybody may connect (0666); who is served is decided by uid.
        case everybody
    }

    /// Absolute.
    package var path: String
    package var audience: Audience
    /// Whether the folder is made for this socket and is nobody else's to bind in. Then it is not locked: whoever is given the
    /// folder could hold the lock.
    package var isAlone: Bool

    package init(path: String, audience: Audience = .owner, isAlone: Bool = false) {
        self.path = path
        self.audience = audience
        self.isAlone = isAlone
    }
}
