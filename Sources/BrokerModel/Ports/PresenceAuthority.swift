import BrokerValues

/// Asks the person who runs a program to show that they are there (Host). It takes as long as a person does.
package protocol PresenceAuthority: Sendable {
    /// - Parameter process: the program's, and its effective uid; the caller sees to it that the number is not another's by then.
    func ask(_ question: PresenceQuestion, process: Int32, uid: UInt32) async -> PresenceAnswer
}

package enum PresenceAnswer: Sendable, Equatable {
    case shown
    /// They declined, or could not, or did not answer.
    case notShown
    /// There is nobody who could be asked: no agent asks for this program.
    case nobodyAsks
    /// What asks is not installed, or failed.
    case unavailable(String)
}
