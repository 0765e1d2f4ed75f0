/// How much a stranger on loopback can make the redirect listener hold, and for how long.
package struct RedirectLimits: Sendable {
    /// All that a connection may send, in bytes: a redirect is one request without a body.
    package var request = 16 << 10
    /// Connections at one time. Browsers open one or two; when a new one comes, the oldest that has asked nothing goes.
    package var connections = 32
    /// From the connection to the end of its request.
    package var asking = Duration.seconds(10)
    /// From the answer to the end of the connection.
    package var reading = Duration.seconds(5)

    package init() {}
}
