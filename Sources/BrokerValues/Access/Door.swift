/// By which socket and protocol a request came.
package enum Door: String, Sendable, CaseIterable {
    /// The broker's own socket.
    case socket
    /// The socket of one sandbox.
    case sandbox
    case oidcAgent = "oidc-agent"
}
