import BrokerModel

/// The layer above the bytes: it decides which peers are served, and makes the handlers of their connections.
///
/// One service serves all connections of a ``LocalListener``.
package protocol ConnectionService: Sendable {
    /// Inspects the process that connected. Called once for each connection, on a thread of its own that may wait.
    ///
    /// - Returns: `nil` if the result makes no difference.
    func look(at peer: PeerCredentials) -> PeerSnapshot?

    /// Decides, once for each connection and before a byte of it is read, whether the peer is served. Called on the reactor's thread.
    ///
    /// The handler keeps the connection; nothing can be written to it before this returns.
    ///
    /// - Parameter look: the result of ``look(at:)``.
    func admit(_ connection: LocalConnection, _ look: PeerSnapshot?) -> ConnectionDecision
}

extension ConnectionService {
    package func look(at peer: PeerCredentials) -> PeerSnapshot? { nil }
}

package enum ConnectionDecision {
    /// - Parameter owner: the owner whose limit the connection counts against.
    case serve(any ConnectionHandler, owner: ConnectionOwner)
    /// Writes the message (delimiter included) and closes.
    case refuse([UInt8])
}
