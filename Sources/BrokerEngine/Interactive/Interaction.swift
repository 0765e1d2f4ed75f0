import BrokerModel
import BrokerValues
import Synchronization

/// What waits for a person: a sign-in in a browser, a code to be typed in elsewhere, the end of a browser's session.
protocol WaitingInteraction: Sendable {
    var id: String { get }
    var partition: Partition { get }

    /// - Returns: whether the redirect was the answer this one waits for.
    func take(_ redirect: RedirectParameters) -> Bool

    /// - Returns: whether the person was still being waited for.
    @discardableResult
    func end(_ error: BrokerError) -> Bool
}

/// The wait for a person. It is left once: by the answer, or by an end (cancel, time-out, an app that goes away,
/// shutdown); whatever comes later finds it closed.
final class Interaction<Answer: Sendable>: WaitingInteraction {
    /// What a redirect says; nil for a foreign one, which changes nothing.
    typealias Judge = @Sendable (RedirectParameters) -> Result<Answer, BrokerError>?

    let id: String
    let partition: Partition
    private let judge = Mutex<Judge?>(nil)
    private let outcome = Promise<Result<Answer, BrokerError>>()
    private let page = Promise<RedirectPage>()

    init(in partition: Partition, random: any RandomSource) {
        id = Base64URL.encode(random.bytes(16))
        self.partition = partition
    }

    /// Whether a person's answer can still come.
    var isOpen: Bool { outcome.current == nil }

    var hasFailed: Bool { if case .failure? = outcome.current { true } else { false } }

    /// From now on a browser may come back. Without this no redirect can be meant.
    func expectRedirect(_ judge: @escaping Judge) { self.judge.withLock { $0 = judge } }

    func take(_ redirect: RedirectParameters) -> Bool {
        guard let judge = judge.withLock({ $0 }), let result = judge(redirect) else { return false }
        return finish(result)
    }

    @discardableResult
    func end(_ error: BrokerError) -> Bool { finish(.failure(error)) }

    /// - Returns: false when it was over before: nobody will take this result.
    func finish(_ result: Result<Answer, BrokerError>) -> Bool { outcome.fulfil(result) }

    func answer() async throws(BrokerError) -> Answer {
        try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            end(.appWentAway)
        }.get()
    }

    // MARK: What the person reads

    /// The browser came back. Waits until the page is known, so that it tells the truth.
    func browserReturned(with redirect: RedirectParameters) async -> RedirectPage {
        guard take(redirect) else { return .notExpected }
        return await page.value
    }

    func show(_ page: RedirectPage) { self.page.fulfil(page) }
}

extension BrokerError {
    static let appWentAway = BrokerError(.userCanceled, "The sign-in was ended because the app went away.")
}
