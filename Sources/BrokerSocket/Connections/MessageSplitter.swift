/// Cuts a stream of bytes into the messages of one protocol. Holds at most one unfinished message.
package protocol MessageSplitter {
    /// Whether the beginning of a message is waiting for the rest; meaningful after ``next()`` said `needsMore`.
    var holdsPart: Bool { get }
    /// Bytes that are here and not handed out yet.
    var count: Int { get }
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    mutating func next() -> MessageStep
    mutating func discard()
}

package enum MessageStep: Equatable {
    /// One whole message, without what delimits it.
    case message(ArraySlice<UInt8>)
    /// No whole message is there.
    case needsMore
    case tooLong
}
