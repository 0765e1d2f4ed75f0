/// The socket and protocol of a request.
package enum Door: String, Sendable, CaseIterable {
    /// The broker's own socket.
    case socket
    /// The socket of one sandbox.
    case sandbox
    case oidcAgent = "oidc-agent"
}
