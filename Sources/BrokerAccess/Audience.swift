/// The users that a broker serves.
package enum Audience: Sendable, Equatable {
    /// User mode: the uid that it runs as.
    case only(uid: UInt32)
    /// System mode: every uid, each with a partition of its own.
    ///
    /// - overflow: the uid that stands for all users without a uid in the broker's user namespace, which therefore cannot be
    ///   distinguished; `nil` if every user has one.
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
