import BrokerModel
import BrokerValues
import Logging

/// Revokes refresh tokens at their providers (RFC 7009), as the app of the client they were issued to.
struct TokenRevocation: Sendable {
    let vault: any RecordVault
    let provider: any IdentityProvider
    let settings: SettingsBox
    let gate: LockGate
    let log: Logger

    struct Revocable: Sendable {
        let token: Secret
        let record: RefreshTokenRecord
    }

    /// - Parameter apps: the apps whose clients may be used.
    /// - Returns: `.done`, or the cause of the last failure.
    func revoke(
        _ tokens: [Revocable], as apps: [AppRegistration], correlationID: String
    ) async -> SignOutStages.Outcome {
        var outcome = SignOutStages.Outcome.done
        for (place, one) in tokens.enumerated() {
            if place > 0, !gate.isOpen { return Self.locking }
            if case .failed(let why) = await revoke(one, as: apps, correlationID) { outcome = .failed(why) }
        }
        return outcome
    }

    /// Revokes tokens one after the other. Each is decrypted only when its turn comes, as there may be many.
    func revoke(
        _ tokens: [StoredRecord<RefreshTokenRecord>], as apps: [AppRegistration], correlationID: String
    ) async -> SignOutStages.Outcome {
        var outcome = SignOutStages.Outcome.done
        for (place, stored) in tokens.enumerated() {
            if place > 0, !gate.isOpen { return Self.locking }
            do throws(VaultError) {
                let one = Revocable(token: try vault.secret(of: stored.sealed), record: stored.record)
                if case .failed(let why) = await revoke(one, as: apps, correlationID) { outcome = .failed(why) }
            } catch {
                outcome = .failed(error.description)
            }
        }
        return outcome
    }

    /// A lock waits for one provider, not for all.
    private static let locking = SignOutStages.Outcome.failed(
        "the broker is locking and does not wait for the provider.")

    private func revoke(
        _ one: Revocable, as apps: [AppRegistration], _ correlationID: String
    ) async -> SignOutStages.Outcome {
        guard let authority = settings.value.authorities.recorded(one.record.authority),
            let client = client(of: one.record.owner, at: authority, among: apps)
        else { return .failed("no app is registered that could revoke the refresh token.") }
        do throws(ProviderError) {
            let metadata = try await provider.metadata(of: authority)
            guard CloudRules.mayRevoke(at: metadata, for: Self.holders(of: one.record.owner, among: apps)) else {
                return .failed(
                    "\(authority.environment) names a revocation endpoint of another host; nothing is sent there.")
            }
            try await provider.revoke(one.token, .refreshToken, as: client, at: metadata)
            return .done
        } catch {
            let failure = ProviderErrors.brokerError(error, at: authority)
            log.notice(
                "a refresh token could not be revoked",
                metadata: ["correlation_id": "\(correlationID)", "cause": settings.quoted(error)])
            return .failed(failure.message)
        }
    }

    /// The client that revokes a token of the owner. Any client of the group may redeem and revoke a family's token.
    private func client(
        of owner: TokenOwner, at place: Authority, among apps: [AppRegistration]
    ) -> ClientCredentials? {
        let here = apps.filter { CloudRules.reaches(place, from: $0, in: settings.clouds) }
        let clients = Self.holders(of: owner, among: here).map { $0.credentials(at: place) }
        guard !owner.clientID.isEmpty else { return clients.first }
        // Two providers may have issued the same client id: the secret belongs to the app that is registered here.
        return clients.first { $0.secret != nil } ?? ClientCredentials(clientID: owner.clientID)
    }

    private static func holders(of owner: TokenOwner, among apps: [AppRegistration]) -> [AppRegistration] {
        apps.filter {
            owner.clientID.isEmpty ? $0.effectiveGroup == owner.group : $0.clientID.isExactly(owner.clientID)
        }
    }
}
