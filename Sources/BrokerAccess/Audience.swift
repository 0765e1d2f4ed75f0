/// Whom a broker serves.
package enum Audience: Sendable, Equatable {
    /// User mode: the uid that it runs as.
    case only(uid: UInt32)
    /// System mode: every uid, each with a partition of its own.
    ///
    /// - overflow: the uid that stands for all whom the broker's user namespace has no number for: they cannot be told from each
    ///   other. Nil where it has one for everybody.
    case everybody(overflow: UInt32?)

    func includes(_ uid: UInt32) -> Bool {
        switch self {
        case .only(let own): uid == own
        case .everybody(let overflow): uid != overflow
        }
    }

    /// Whether what concerns everybody is this uid's business.
    func isOwned(by uid: UInt32) -> Bool {
        switch self {
        case .only(let own): uid == own
        case .everybody: uid == 0
        }
    }
}
