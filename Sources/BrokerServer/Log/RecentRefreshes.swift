import BrokerEngine
import BrokerModel
import Synchronization

/// Refreshed tokens already in the journal: one refresh answers all waiting callers, and a caller may wait a thousand times.
final class RecentRefreshes: Sendable {
    private static let most = 512

    /// The oldest is forgotten first.
    private let logged = Mutex((all: [Int](), next: 0))

    /// Whether no entry says yet that the caller got this token.
    func isNew(_ token: AcquiredToken, _ subject: RequestEntry.Subject) -> Bool {
        let owner = RepeatedEntry.Owner(subject.caller)
        var hasher = Hasher()
        hasher.combine(owner)
        hasher.combine(subject.app)
        hasher.combine(token.token.sealed.box)
        let key = hasher.finalize()
        return logged.withLock { logged in
            guard !logged.all.contains(key) else { return false }
            if logged.all.count < Self.most { logged.all.append(key) } else { logged.all[logged.next] = key }
            logged.next = (logged.next + 1) % Self.most
            return true
        }
    }
}
