/// Which users may use the redirect listener on loopback, how much they can make it hold, and for how long.
package struct RedirectLimits: Sendable {
    /// The most bytes that a connection may send: a redirect is one request, and its form is short.
    package var request = 16 << 10
    /// Connections of one person at one time, at all ports together. Browsers open one or two.
    package var connections = 64
    /// Connections of all other users of the machine, together; a browser's may be among them if a proxy relays it.
    package var strangers = 16
    /// Time from the connection to the end of its request.
    package var asking = Duration.seconds(10)
    /// Time from the answer to the end of the connection.
    package var reading = Duration.seconds(5)
    /// Whether a redirect from a browser of another user than the waiting one counts.
    package var takesRedirectsOfOtherUsers = false

    package init() {}
}
