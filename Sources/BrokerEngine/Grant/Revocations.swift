import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Tokens that came and that nobody keeps are revoked at their provider (RFC 7009). As well as it goes: nobody waits
/// for it, and what fails is logged.
final class Revocations: Sendable {
    private struct State {
        var nextID: UInt64 = 0
        var running: [UInt64: Task<Void, Never>] = [:]
    }

    /// At a time. A provider that lets all of them hang gets no more.
    static let limit = 32
    private let state = Mutex(State())

    /// - Returns: false when there is no room.
    func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
        state.withLock { state in
            guard state.running.count < Self.limit else { return false }
            state.nextID += 1
            let id = state.nextID
            state.running[id] = Task {
                await work()
                self.state.withLock { $0.running[id] = nil }
            }
            return true
        }
    }

    /// For shutdown: each is given its time, which the HTTP client bounds.
    func finishAll() async {
        while let task = state.withLock({ $0.running.values.first }) { await task.value }
    }
}

/// What of a token answer can be given back.
struct DiscardedTokens: Sendable {
    var refreshToken: Secret?
    var accessToken: Secret?

    init(_ response: TokenResponse) { (refreshToken, accessToken) = (response.refreshToken, response.accessToken) }
    init(_ rest: RejectedTokenResponse) { refreshToken = rest.refreshToken }
    init(refreshToken: Secret) { self.refreshToken = refreshToken }

    /// The refresh token first: with it the provider should end the access token, too (RFC 7009, section 2.1).
    fileprivate var inOrder: [(Secret, RevocableToken)] {
        [(refreshToken, RevocableToken.refreshToken), (accessToken, .accessToken)].compactMap { token, kind in
            token.map { ($0, kind) }
        }
    }
}

extension EngineServices {
    /// Begins to give tokens back, and does not wait for it.
    ///
    /// - Parameter app: for whose client they were made.
    func revoke(_ tokens: DiscardedTokens, of app: AppRegistration, at metadata: ProviderMetadata) {
        let place = metadata.authority
        guard metadata.revocationEndpoint != nil, CloudRules.mayRevoke(at: metadata, for: [app]) else { return }
        let client = app.credentials(at: place)
        let isStarted = revocations.start {
            for (token, kind) in tokens.inOrder {
                do throws(ProviderError) {
                    try await self.provider.revoke(token, kind, as: client, at: metadata)
                } catch {
                    self.log.notice(
                        "a token that was not kept could not be revoked",
                        metadata: ["kind": "\(kind.rawValue)", "cause": self.quoted(error)])
                }
            }
        }
        if !isStarted { log.notice("a token that was not kept is not revoked: too many revocations are under way") }
    }
}
