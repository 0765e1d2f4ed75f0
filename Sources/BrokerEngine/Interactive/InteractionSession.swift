import BrokerModel
import BrokerValues
import Synchronization

/// One sign-in that waits for a person. It leaves `waiting` once: by a redirect that is the answer, or by an end
/// (cancel, time-out, shutdown); whatever comes later finds it closed.
final class InteractionSession: WaitingInteraction {
    let id: String
    let partition: Partition
    let appName: String
    let expectation: RedirectCheck.Expectation

    private enum Phase { case waiting, answered, ended }
    private let phase = Mutex(Phase.waiting)
    private let answer = Promise<Result<Secret, BrokerError>>()
    private let page = Promise<RedirectPage>()

    init(id: String, partition: Partition, appName: String, expectation: RedirectCheck.Expectation) {
        self.id = id
        self.partition = partition
        self.appName = appName
        self.expectation = expectation
    }

    /// The browser came back. Waits until the sign-in is through, so that the page tells the truth.
    func browserReturned(with redirect: RedirectParameters) async -> RedirectPage {
        guard take(redirect) else { return .notExpected }
        return await page.value
    }

    /// - Returns: whether the redirect was the answer this sign-in waits for.
    func take(_ redirect: RedirectParameters) -> Bool {
        switch RedirectCheck.judge(redirect, against: expectation) {
        case .foreign: return false
        case .code(let code): return leave(.answered, with: .success(code))
        case .refused(let refusal):
            let error = ProviderErrors.brokerError(.refused(refusal), authorityName: expectation.issuer)
            return leave(.answered, with: .failure(error))
        }
    }

    /// - Returns: whether the person was still being waited for.
    @discardableResult
    func end(_ error: BrokerError) -> Bool { leave(.ended, with: .failure(error)) }

    /// The code the provider gave.
    func code() async throws(BrokerError) -> Secret {
        // A caller that goes away ends the sign-in; nobody else would take its token.
        try await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            end(BrokerError(.userCanceled, "The sign-in was ended because the app went away."))
        }.get()
    }

    func show(_ page: RedirectPage) { self.page.fulfil(page) }

    private func leave(_ next: Phase, with result: Result<Secret, BrokerError>) -> Bool {
        let first = phase.withLock { phase in
            guard case .waiting = phase else { return false }
            phase = next
            return true
        }
        return first && answer.fulfil(result)
    }
}
