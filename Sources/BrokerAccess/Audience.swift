/// The users that a broker serves.
package enum Audience: Sendable, Equatable {
    /// User mode: the uid that it runs as.
    case only(uid: UInt32)
    /// System mode: every uid, each with a partition of its own.
    ///
    /// - overflow: the uid that stands for all users without a number in the broker's user namespace: they cannot be told apart.
    ///   `nil` if every user has a number.
    case everybody(overflow: UInt32?)

    func includes(_ uid: UInt32) -> Bool {
        switch self {
        case .only(let own): uid == own
        case .everybody(let overflow): uid != overflow
        }
    }

    /// Whether this uid may manage what concerns all users.
    func isOwned(by uid: UInt32) -> Bool {
        switch self {
        case .only(let own): uid == own
        case .everybody: uid == 0
        }
    }
}
