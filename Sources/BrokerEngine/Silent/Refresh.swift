import BrokerModel
import BrokerValues
import Logging

/// One flight: spends the refresh token once, and keeps what comes back before anybody is answered.
struct Refresh: Sendable {
    let services: EngineServices
    let request: SilentRequest

    @Sendable func run() async -> RefreshFlights.Outcome {
        do throws(BrokerError) {
            return .success(try await attempt())
        } catch {
            return .failure(error)
        }
    }

    private func attempt() async throws(BrokerError) -> AcquiredToken {
        // What was true when the flight was booked may have changed: an earlier flight has just rotated the token.
        let situation = try SilentAcquisition(services: services).look(at: request)
        switch situation.decision {
        case .cached(let token):
            return situation.cached(token, services)
        case .interact(let reason):
            throw BrokerError(
                .interactionRequired, "There is no saved sign-in for \(request.app.name) here; ask interactively.",
                reason: reason)
        case .refresh(let refreshToken):
            return try await spend(refreshToken, in: situation)
        }
    }

    private func spend(
        _ refreshToken: StoredRecord<RefreshTokenRecord>, in situation: SilentAcquisition.Situation
    ) async throws(BrokerError) -> AcquiredToken {
        let granted = Scopes(refreshToken.record.scopes)
        let asked = ScopeRules.toRefresh(request.scopes, granted: granted)
        let secret = try services.reading { () throws(VaultError) in try services.vault.secret(of: refreshToken.sealed)
        }
        let response: TokenResponse
        let metadata: ProviderMetadata
        do throws(ProviderError) {
            metadata = try await services.provider.metadata(of: request.target)
            response = try await services.provider.redeem(
                .refreshToken(secret, scopes: asked), with: request.extras, as: request.app.credentials, at: metadata)
        } catch {
            throw await failure(error, of: refreshToken, granted: granted, in: situation)
        }
        let keeper = TokenKeeper(services: services, app: request.app, partition: request.partition)
        return try await keeper.keepRefreshed(
            response, asked: request.scopes, sent: asked, replacing: refreshToken, of: situation.entry,
            at: request.target, metadata: metadata)
    }

    private func failure(
        _ error: ProviderError, of refreshToken: StoredRecord<RefreshTokenRecord>, granted: Scopes,
        in situation: SilentAcquisition.Situation
    ) async -> BrokerError {
        guard case .refused(let refusal) = error else {
            return ProviderErrors.brokerError(error, at: request.target)
        }
        let meaning = RefreshRefusal(
            refusal, asked: request.scopes, grantedScopes: granted, sentClaims: request.claims != nil,
            at: request.target.environment)
        if meaning.tokenIsDead { await forget(refreshToken, of: situation.owner) }
        return meaning.error
    }

    /// Removes the refresh token, but only the one that was sent: a sign-in may have brought a new one meanwhile.
    private func forget(_ dead: StoredRecord<RefreshTokenRecord>, of owner: CacheIndex.OwnerKey) async {
        let index = services.index
        let isCurrent: @Sendable () -> Bool = { index.tokens(of: owner)?.refreshToken?.sealed.box == dead.sealed.box }
        let outcome = await services.writer.write { () throws(VaultError) in
            VaultChange(in: owner.partition, deletes: isCurrent() ? [dead.record.key] : [])
        } apply: { index throws(VaultError) in
            guard isCurrent() else { return }
            try index.update(tokens: owner) { $0.refreshToken = nil }
        }
        services.events.tell(
            BrokerEvent(
                partition: owner.partition, app: request.app,
                .token(
                    .refreshTokenRejected,
                    accountID: owner.owner.homeAccountID.accountID(
                        in: owner.partition, environment: owner.owner.environment),
                    scopes: dead.record.scopes, expiresOn: nil)))
        if case .failure(let cause) = outcome {
            services.log.error("a dead refresh token could not be removed", metadata: ["cause": "\(cause)"])
        }
    }
}

extension AppRegistration {
    var credentials: ClientCredentials { ClientCredentials(clientID: clientID, secret: clientSecret) }
}
