import BrokerModel
import BrokerValues

/// One sign-in on another device that is waited for. It is over once: by tokens, by the provider's no, or by an end from
/// this side (cancel, time-out, a caller that goes away, shutdown).
final class DeviceCodeSession: WaitingInteraction {
    let id: String
    let partition: Partition
    private let answer = Promise<Result<TokenResponse, BrokerError>>()

    init(id: String, partition: Partition) {
        self.id = id
        self.partition = partition
    }

    /// No browser comes back here.
    func take(_ redirect: RedirectParameters) -> Bool { false }

    @discardableResult
    func end(_ error: BrokerError) -> Bool { answer.fulfil(.failure(error)) }

    /// - Returns: false when it was over before: nobody will take these tokens.
    func finish(_ result: Result<TokenResponse, BrokerError>) -> Bool { answer.fulfil(result) }

    func response() async throws(BrokerError) -> TokenResponse {
        // A caller that goes away ends the sign-in; nobody else would take its token.
        try await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            end(BrokerError(.userCanceled, "The sign-in was ended because the app went away."))
        }.get()
    }
}
