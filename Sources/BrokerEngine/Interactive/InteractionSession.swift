import BrokerModel
import BrokerValues
import Synchronization

/// The wait for a person in a browser. It is left once: by a redirect that is the answer, or by an end (cancel, the last
/// who waited has gone, shutdown); whatever comes later finds it closed.
final class InteractionSession: WaitingInteraction {
    let id: String
    let partition: Partition

    private enum Phase {
        /// Nothing has been opened yet; no redirect can be meant.
        case preparing
        case waiting(RedirectCheck.Expectation)
        case answered
        case ended
    }

    private let phase = Mutex(Phase.preparing)
    private let answer = Promise<Result<RedirectCheck.AuthorizationCode, BrokerError>>()
    private let page = Promise<RedirectPage>()

    init(id: String, partition: Partition) {
        self.id = id
        self.partition = partition
    }

    /// Whether a person's answer can still come.
    var isOpen: Bool {
        phase.withLock { phase in
            switch phase {
            case .preparing, .waiting: true
            case .answered, .ended: false
            }
        }
    }

    var isEnded: Bool { phase.withLock { if case .ended = $0 { true } else { false } } }

    /// From now on the browser may come back.
    func expect(_ expectation: RedirectCheck.Expectation) {
        phase.withLock { if case .preparing = $0 { $0 = .waiting(expectation) } }
    }

    /// The browser came back. Waits until the sign-in is through, so that the page tells the truth.
    func browserReturned(with redirect: RedirectParameters) async -> RedirectPage {
        guard take(redirect) else { return .notExpected }
        return await page.value
    }

    func take(_ redirect: RedirectParameters) -> Bool {
        guard case .waiting(let expectation) = phase.withLock({ $0 }) else { return false }
        switch RedirectCheck.judge(redirect, against: expectation) {
        case .foreign: return false
        case .code(let code): return leave(for: .answered, with: .success(code))
        case .otherCloud(let host):
            return leave(for: .answered, with: .failure(.otherCloud(host, wasAskedFor: expectation.allowsOtherClouds)))
        case .refused(let refusal):
            let error = ProviderErrors.brokerError(.refused(refusal), authorityName: expectation.issuer)
            return leave(for: .answered, with: .failure(error))
        }
    }

    @discardableResult
    func end(_ error: BrokerError) -> Bool { leave(for: .ended, with: .failure(error)) }

    /// The code the provider gave.
    func code() async throws(BrokerError) -> RedirectCheck.AuthorizationCode { try await answer.value.get() }

    func show(_ page: RedirectPage) { self.page.fulfil(page) }

    private func leave(for next: Phase, with result: Result<RedirectCheck.AuthorizationCode, BrokerError>) -> Bool {
        let first = phase.withLock { phase in
            switch phase {
            case .preparing, .waiting:
                phase = next
                return true
            case .answered, .ended: return false
            }
        }
        return first && answer.fulfil(result)
    }
}

extension RedirectCheck.Expectation {
    fileprivate var allowsOtherClouds: Bool { clouds?.others.isEmpty == false }
}

extension BrokerError {
    fileprivate static func otherCloud(_ host: String, wasAskedFor: Bool) -> BrokerError {
        guard wasAskedFor else {
            return BrokerError(
                .invalidResponse,
                "The sign-in was answered for another cloud (\(host)) than was asked; name that cloud's authority, or make "
                    + "the app instance-aware.")
        }
        return BrokerError(
            .invalidResponse,
            "The sign-in was answered for a cloud that is not known here (\(host)), and nothing was sent there; if it is "
                + "one, its administrator adds it to the provider's other_clouds.")
    }
}
