/// Why the socket layer itself ends a connection.
package enum ConnectionRefusal: Sendable, Equatable {
    /// More than `limit` bytes without a newline.
    case lineTooLong(limit: Int)
    /// The beginning of a line whose end did not come in time.
    case lineStalled(after: Duration)
    /// The peer shut its side in the middle of a line; lines before it are still answered.
    case lineCutOff
    /// A process other than the one that connected writes, and is not the first such, or began in the middle of a line.
    case manyWriters
    /// Descriptors came with the bytes.
    case descriptors
    /// The limit of open connections is reached: of all, or of the peer's own ones.
    case tooManyConnections(limit: Int, of: Party)

    package enum Party: Sendable { case everybody, user, program, unnamed }
}
