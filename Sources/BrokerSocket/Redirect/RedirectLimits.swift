/// Who may come to the redirect listener on loopback, how much it can make it hold, and for how long.
package struct RedirectLimits: Sendable {
    /// All that a connection may send, in bytes: a redirect is one request, and its form is short.
    package var request = 16 << 10
    /// Connections of one person at one time, at all ports together. Browsers open one or two.
    package var connections = 64
    /// Connections of all other users of the machine, together; a browser's may be among them where a proxy relays it.
    package var strangers = 16
    /// From the connection to the end of its request.
    package var asking = Duration.seconds(10)
    /// From the answer to the end of the connection.
    package var reading = Duration.seconds(5)
    /// Whether a redirect counts that a browser of another user brings than the one who waits.
    package var takesRedirectsOfOtherUsers = false

    package init() {}
}
