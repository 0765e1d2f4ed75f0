import BrokerModel
import Synchronization

/// The sign-ins that wait for redirects at a port, by path.
final class RedirectRoutes: Sendable {
    typealias Answer = @Sendable (RedirectParameters) async -> RedirectPage

    private struct Route {
        let id: Int
        let path: String
        let person: Partition
        let takesForm: Bool
        let answer: Answer
    }

    private struct State {
        var routes: [Route] = []
        var lastID = 0
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.routes.isEmpty } }

    /// - Returns: identifies the route for removal.
    func add(_ path: String, for person: Partition, takesForm: Bool, _ answer: @escaping Answer) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.routes.append(
                Route(id: state.lastID, path: path, person: person, takesForm: takesForm, answer: answer))
            return state.lastID
        }
    }

    /// Whether a sign-in of this user waits.
    func expects(_ visitor: LoopbackVisitor) -> Bool {
        state.withLock { state in state.routes.contains { visitor == .user($0.person.uid) } }
    }

    /// Whether a sign-in waits at the path.
    func lead(to path: String) -> Bool { state.withLock { state in state.routes.contains { $0.path == path } } }

    /// Whether a sign-in at the path accepts a form.
    func takeForm(at path: String) -> Bool {
        state.withLock { state in state.routes.contains { $0.path == path && $0.takesForm } }
    }

    func remove(_ id: Int) { state.withLock { $0.routes.removeAll { $0.id == id } } }

    /// Offers a redirect to each sign-in that waits at its path. Its `state` matches one of them at most; the others do not expect it.
    ///
    /// - Parameters:
    ///   - isForm: whether it came as a form, which not all accept.
    ///   - isOpenToAll: whether a person's redirect may come from a browser of another user.
    /// - Returns: `nil` if no sign-in waits at the path for this visitor.
    func answer(at path: String, isForm: Bool, to visitor: LoopbackVisitor, isOpenToAll: Bool) -> Answer? {
        let answers = state.withLock { state in
            state.routes.filter {
                $0.path == path && ($0.takesForm || !isForm) && (isOpenToAll || visitor.mayBe($0.person.uid))
            }.map(\.answer)
        }
        guard !answers.isEmpty else { return nil }
        return { redirect in
            for answer in answers {
                let page = await answer(redirect)
                if page != .notExpected { return page }
            }
            return .notExpected
        }
    }
}
