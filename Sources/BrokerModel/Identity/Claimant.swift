/// Whose use of what is limited counts together, so that nobody's can take the places of everybody.
package enum Claimant: Sendable, Hashable {
    case process(pid: Int32)
    /// All processes of one sandbox, by what tells it from others.
    case sandbox(String)
    /// Those of whom nothing is known, together.
    case unidentified
}
