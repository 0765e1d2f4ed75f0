import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Revokes tokens that were received and are not kept, at their provider (RFC 7009). Best effort: no caller waits for it, and
/// failures are logged.
final class Revocations: Sendable {
    private struct State {
        var nextID: UInt64 = 0
        var running: [UInt64: Task<Void, Never>] = [:]
    }

    /// The number of concurrent revocations. A provider that lets all of them hang gets no more.
    static let limit = 32
    private let provider: any IdentityProvider
    private let settings: SettingsBox
    private let log: Logger
    private let state = Mutex(State())

    init(provider: any IdentityProvider, settings: SettingsBox, log: Logger) {
        (self.provider, self.settings, self.log) = (provider, settings, log)
    }

    /// Begins to revoke tokens, without waiting for it.
    ///
    /// - Parameter app: the app of the client they were issued to.
    func revoke(_ tokens: DiscardedTokens, of app: AppRegistration, at metadata: ProviderMetadata) {
        let place = metadata.authority
        guard metadata.revocationEndpoint != nil, CloudRules.mayRevoke(at: metadata, for: [app]) else { return }
        let client = app.credentials(at: place)
        let isStarted = start { [provider, settings, log] in
            for (token, kind) in tokens.inOrder {
                do throws(ProviderError) {
                    try await provider.revoke(token, kind, as: client, at: metadata)
                } catch {
                    log.notice(
                        "a token that was not kept could not be revoked",
                        metadata: ["kind": "\(kind.rawValue)", "cause": settings.quoted(error)])
                }
            }
        }
        if !isStarted { log.notice("a token that was not kept is not revoked: too many revocations are under way") }
    }

    /// - Returns: false if there is no room.
    private func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
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

    /// Waits for all revocations, at shutdown. The HTTP client bounds the time of each.
    func finishAll() async {
        while let task = state.withLock({ $0.running.values.first }) { await task.value }
    }
}

/// The tokens of a response that can be revoked.
struct DiscardedTokens: Sendable {
    var refreshToken: Secret?
    var accessToken: Secret?

    init(_ response: TokenResponse) { (refreshToken, accessToken) = (response.refreshToken, response.accessToken) }
    init(_ rest: RejectedTokenResponse) { refreshToken = rest.refreshToken }

    /// The refresh token first: with it the provider should end the access token, too (RFC 7009, section 2.1).
    fileprivate var inOrder: [(Secret, RevocableToken)] {
        [(refreshToken, RevocableToken.refreshToken), (accessToken, .accessToken)].compactMap { token, kind in
            token.map { ($0, kind) }
        }
    }
}
