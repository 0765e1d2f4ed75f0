/// Cuts a stream of bytes into the messages of one protocol. Holds at most one unfinished message.
package protocol MessageSplitter {
    /// Whether an incomplete message is waiting for its rest; meaningful after ``next()`` returned `needsMore`.
    var holdsPart: Bool { get }
    /// Bytes in memory that were not returned yet.
    var count: Int { get }
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    mutating func next() -> MessageStep
    mutating func discard()
}

package enum MessageStep: Equatable {
    /// One whole message, without its delimiter.
    case message(ArraySlice<UInt8>)
    /// There is no whole message.
    case needsMore
    case tooLong
}
