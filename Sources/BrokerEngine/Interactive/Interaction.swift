import BrokerModel
import BrokerValues
import Synchronization

/// A wait for a person: a sign-in in a browser, a code typed on another device, or the end of a browser's session.
protocol WaitingInteraction: Sendable {
    var id: String { get }
    var claim: InteractionClaim { get }
    var erasures: ErasureMark { get }
    /// Whether the person's answer has come. A code works once, so the broker does not stop before its tokens are kept.
    var isAnswered: Bool { get }
    /// Fulfilled when nothing is done with the answer any more.
    var over: Promise<Void> { get }

    func take(_ redirect: RedirectParameters) -> RedirectReception

    /// - Returns: whether the interaction was still waiting.
    @discardableResult
    func end(_ error: BrokerError) -> Bool
}

extension WaitingInteraction {
    var partition: Partition { claim.partition }
}

/// The outcome of a redirect.
enum RedirectReception: Sendable {
    /// The redirect was the answer.
    case taken
    case notExpected
    /// The wait goes on; the sentence says why.
    case notAccepted(String)
    /// The wait goes on, for another answer of the provider.
    case goesOn(url: String)
}

/// The meaning of a redirect for a wait, before it takes effect.
enum RedirectMeaning<Answer: Sendable>: Sendable {
    case answer(Result<Answer, BrokerError>)
    case foreign
    /// The sentence says why.
    case unacceptable(String)
    /// The provider is asked once more.
    case askAgain(url: String)
}

/// A wait for a person that ends once: by the answer, a cancel, a timeout, an app that goes away, or shutdown. Anything later is
/// ignored.
final class Interaction<Answer: Sendable>: WaitingInteraction {
    typealias Judge = @Sendable (RedirectParameters) -> RedirectMeaning<Answer>

    let id: String
    let claim: InteractionClaim
    let erasures = ErasureMark()
    let over = Promise<Void>()
    /// The app's name, for the person.
    private let app: String
    private let judge = Mutex<Judge?>(nil)
    private let refusal = Mutex<String?>(nil)
    private let outcome = Promise<Result<Answer, BrokerError>>()
    /// Ends the wait for what comes before the person's answer.
    private let giveUp = Mutex<(@Sendable (BrokerError) -> Void)?>(nil)
    private let page = Promise<RedirectPage>()

    /// - Parameter app: the app's name.
    init(id: String, claim: InteractionClaim, app: String) { (self.id, self.claim, self.app) = (id, claim, app) }

    /// Whether a person's answer can still come.
    var isOpen: Bool { outcome.current == nil }

    var isAnswered: Bool { if case .success? = outcome.current { true } else { false } }

    var hasFailed: Bool { if case .failure? = outcome.current { true } else { false } }

    /// Sets how redirects are judged. Before this call no redirect matches.
    func expectRedirect(_ judge: @escaping Judge) { self.judge.withLock { $0 = judge } }

    func take(_ redirect: RedirectParameters) -> RedirectReception {
        guard isOpen, let judge = judge.withLock({ $0 }) else { return .notExpected }
        switch judge(redirect) {
        case .answer(let result): return finish(result) ? .taken : .notExpected
        case .foreign: return .notExpected
        case .unacceptable(let why):
            refusal.withLock { $0 = why }
            return .notAccepted(why)
        case .askAgain(let url): return .goesOn(url: url)
        }
    }

    /// Why the last redirect for this wait could not be accepted, if there was one.
    var lastRefusal: String? { refusal.withLock { $0 } }

    @discardableResult
    func end(_ error: BrokerError) -> Bool { finish(.failure(error)) }

    /// - Returns: false if it had ended before: the result has no receiver.
    func finish(_ result: Result<Answer, BrokerError>) -> Bool {
        // The judge holds the sign-in with the app's secret, and the sign-in holds this.
        let judge = judge.withLock { judge in
            defer { judge = nil }
            return judge
        }
        guard withExtendedLifetime(judge, { outcome.fulfil(result) }) else { return false }
        if case .failure(let error) = result { giveUp.withLock { $0 }?(error) }
        return true
    }

    /// Does work that comes before the person's answer, such as a question to the provider. The end of the interaction
    /// does not wait for it: the work goes on alone, and its result is dropped.
    ///
    /// - Throws: the error of the work, or the one that ended the interaction.
    func preparing<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(BrokerError) -> Value
    ) async throws(BrokerError) -> Value {
        let result = Promise<Result<Value, BrokerError>>()
        giveUp.withLock { $0 = { error in result.fulfil(.failure(error)) } }
        defer { giveUp.withLock { $0 = nil } }
        // An end until now has found nothing to give up.
        if case .failure(let error)? = outcome.current { throw error }
        Task {
            do throws(BrokerError) {
                result.fulfil(.success(try await work()))
            } catch {
                result.fulfil(.failure(error))
            }
        }
        return try await withTaskCancellationHandler {
            await result.value
        } onCancel: {
            end(.appWentAway)
        }.get()
    }

    func answer() async throws(BrokerError) -> Answer {
        try await withTaskCancellationHandler {
            await outcome.value
        } onCancel: {
            end(.appWentAway)
        }.get()
    }

    // MARK: Pages

    /// Takes a redirect from the browser. If it was the answer, waits for the outcome, so that the page shows it.
    ///
    /// - Returns: the page for the browser.
    func browserReturned(with redirect: RedirectParameters) async -> RedirectPage {
        switch take(redirect) {
        case .taken: await page.value
        case .notExpected: .notExpected
        case .notAccepted(let why): .notAccepted(app: app, why: why)
        case .goesOn(let url): .goesOn(url: url)
        }
    }

    func show(_ page: RedirectPage) { self.page.fulfil(page) }
}

extension BrokerError {
    static let appWentAway = BrokerError(.userCanceled, "The sign-in was ended because the app went away.")
}
