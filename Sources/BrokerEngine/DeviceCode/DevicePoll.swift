import BrokerModel
import BrokerValues

/// Polls the token endpoint as ``DevicePolling`` says, and delivers the outcome to the waiting request.
struct DevicePoll: Sendable {
    let provider: any IdentityProvider
    let store: TokenResponseStore
    let clock: any BrokerClock
    let request: DeviceCodeRequest
    let interaction: Interaction<TokenResponse>
    let metadata: ProviderMetadata
    let deviceCode: Secret
    /// The key to bind the token to, if any.
    let proofKey: ProofKey?

    /// Polls until there is an outcome. Cancelling ends a pause, but never an attempt, whose tokens would be lost.
    func run(_ polling: DevicePolling) async {
        var polling = polling
        var step = polling.next(after: nil, at: clock.uptime)
        var cause: ProviderError?
        while case .wait(let pause) = step {
            do { try await clock.sleep(for: pause) } catch { return }
            guard !polling.isOver(at: clock.uptime) else { break }
            let outcome = await Task { await attempt() }.value
            switch outcome {
            case .success(let response):
                // The person finished at the moment when the sign-in was canceled.
                if !interaction.finish(.success(response)) {
                    store.discard(DiscardedTokens(response), for: TokenRecipient(request), at: metadata)
                }
                return
            case .failure(let error):
                if case .unusableTokens(let rest) = error {
                    store.discard(DiscardedTokens(rest), for: TokenRecipient(request), at: metadata)
                }
                cause = error
                step = polling.next(after: DevicePolling.Answer(error), at: clock.uptime)
            }
        }
        _ = interaction.finish(.failure(failure(step, cause)))
    }

    private func attempt() async -> Result<TokenResponse, ProviderError> {
        var extras = request.extras
        extras.proofKey = proofKey
        do throws(ProviderError) {
            return .success(
                try await provider.redeem(
                    .deviceCode(deviceCode), with: extras, as: request.app.credentials(at: request.target), at: metadata
                ))
        } catch {
            return .failure(error)
        }
    }

    private func failure(_ step: DevicePolling.Step, _ cause: ProviderError?) -> BrokerError {
        switch step {
        case .wait, .timedOut: timedOut(cause)
        case .denied:
            BrokerError(.userCanceled, "The sign-in was declined on the other device.", cause: cause) {
                if case .refused(let refusal) = cause { $0.add(refusal) }
            }
        case .failed:
            ProviderErrors.brokerError(
                cause ?? .invalidResponse(status: nil, "The sign-in failed."), at: request.target)
        }
    }

    /// - Parameter cause: the failure of the last poll.
    private func timedOut(_ cause: ProviderError?) -> BrokerError {
        var message = "Nobody finished the sign-in while the code was good; start it again."
        if let cause, case .trouble = DevicePolling.Answer(cause) {
            // The person may well have finished.
            let trouble = ProviderErrors.brokerError(cause, at: request.target).message
            message = "The sign-in's tokens could not be fetched while the code was good; start it again. \(trouble)"
        }
        return BrokerError(.timedOut, message, cause: cause) {
            if let cause, case .refused(let refusal) = cause, DevicePolling.Answer(cause) == .expired {
                $0.add(refusal)
            }
        }
    }
}
