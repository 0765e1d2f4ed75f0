/// Ends the demonstration: an answer or a program was not as it should be.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
