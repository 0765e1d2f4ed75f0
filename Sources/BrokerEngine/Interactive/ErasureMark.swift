import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// The erasures and sign-outs while a sign-in is under way. What it brings for such a person is not kept.
final class ErasureMark: Sendable {
    private struct State {
        /// `nil` means everybody.
        var people: Set<KnownAccounts.PersonKey>? = []
        var error: BrokerError?
    }

    /// With more people than this, everybody counts.
    private static let limit = 64
    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.error == nil } }

    /// Whether the sign-in may be that of a person who is marked.
    func concerns(_ question: SignInKey) -> Bool {
        state.withLock { $0.error != nil && ($0.people.map(question.mayBeFor) ?? true) }
    }

    /// - Parameters:
    ///   - person: `nil` for everybody.
    ///   - error: for the caller of the sign-in.
    func add(_ person: KnownAccounts.PersonKey?, _ error: BrokerError) {
        state.withLock { state in
            state.error = error
            if let person, let count = state.people?.count, count < Self.limit {
                state.people?.insert(person)
            } else {
                state.people = nil
            }
        }
    }

    /// - Returns: why the account's tokens are not kept; `nil` if they may be.
    func error(for account: AccountRecord) -> BrokerError? {
        state.withLock { $0.people?.contains(.init(account)) == false ? nil : $0.error }
    }
}
