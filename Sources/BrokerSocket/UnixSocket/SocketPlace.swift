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

    package init(path: String, audience: Audience = .owner) {
        self.path = path
        self.audience = audience
    }
}
