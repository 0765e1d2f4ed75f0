import BrokerValues

/// Asks the user of a program to prove their presence (Host). It takes as long as the user does.
package protocol PresenceAuthority: Sendable {
    /// - Parameter process: the program's, and its effective uid; the caller ensures that the number has not been reused.
    func ask(_ question: PresenceQuestion, process: Int32, uid: UInt32) async -> PresenceAnswer
}

package enum PresenceAnswer: Sendable, Equatable {
    case shown
    /// The user declined, could not, or did not answer.
    case notShown
    /// Nobody can be asked: no agent is available for this program.
    case nobodyAsks
    /// The prompting program is not installed, or failed.
    case unavailable(String)
}
