import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Implements `token.acquireByDeviceCode`: the person signs in on another device, and the broker polls until they are done
/// (RFC 8628).
final class DeviceCodeAcquisition: Sendable {
    private let cache: TokenCache
    private let provider: any IdentityProvider
    private let interactions: InteractionRegistry
    private let clients: ClientKnowledge
    private let proofKeys: ProofKeys
    private let store: TokenResponseStore
    private let gate: LockGate
    private let settings: SettingsBox
    private let clock: any BrokerClock
    /// The polls, by their interaction's id. A poll outlives its sign-in if an attempt is under way.
    private let polls = Mutex<[String: Task<Void, Never>]>([:])

    init(
        cache: TokenCache, provider: any IdentityProvider, interactions: InteractionRegistry, clients: ClientKnowledge,
        proofKeys: ProofKeys, store: TokenResponseStore, gate: LockGate, settings: SettingsBox, clock: any BrokerClock
    ) {
        (self.cache, self.provider, self.interactions, self.clients) = (cache, provider, interactions, clients)
        (self.proofKeys, self.store, self.gate) = (proofKeys, store, gate)
        (self.settings, self.clock) = (settings, clock)
    }

    /// The longest wait in seconds; no provider's code is valid for longer.
    private static let longestWait: Int64 = 86_400

    func acquire(
        _ request: DeviceCodeRequest, onCode: @Sendable (DeviceCodeOpening) -> Void
    ) async throws(BrokerError) -> AcquiredToken {
        try ScopeRules.check(request.scopes)
        try ExtraParameters.check(request.extraParameters) { AuthorizationRequest.reservedForTokens.contains($0) }
        try TenantRules.check(request.authority, for: request.app)
        let person = try person(for: request)
        // No browser comes back here, so it expects no redirect.
        let interaction: Interaction<TokenResponse> = interactions.interaction(
            for: request.app, of: request.claimant, isOutside: request.isOutside, in: request.partition)
        // Before the provider is asked: a code that may not be waited for is not fetched either.
        try interactions.add(interaction)
        defer { interactions.remove(interaction) }
        let begun = clock.uptime
        let (metadata, proofKey, sent, authorization) = try await code(for: request, interaction)
        let timeLeft = request.timeout.map { max(0, $0 - (clock.uptime - begun).components.seconds) }
        let lifetime = min(authorization.expiresIn, timeLeft ?? .max, Self.longestWait)
        let poll = DevicePoll(
            provider: provider, store: store, clock: clock, request: request, interaction: interaction,
            metadata: metadata, deviceCode: authorization.deviceCode, proofKey: proofKey)
        onCode(opening(request, authorization, interaction.id, lifetime))
        interactions.tell(.opened, of: interaction.id, for: request.app, in: request.partition)
        let outcome = await outcome(of: interaction, poll, authorization, lifetime, sent: sent, person)
        interactions.tell(outcome, of: interaction.id, for: request.app, in: request.partition)
        return try outcome.get()
    }

    private func outcome(
        of interaction: Interaction<TokenResponse>, _ poll: DevicePoll, _ authorization: DeviceAuthorization,
        _ lifetime: Int64, sent: Scopes, _ person: KnownAccount?
    ) async -> Result<AcquiredToken, BrokerError> {
        let polling = begin(
            poll, DevicePolling(interval: authorization.interval, deadline: clock.uptime + .seconds(lifetime)))
        defer { polling.cancel() }
        do throws(BrokerError) {
            let response = try await interaction.answer()
            // The device code works once: its tokens are kept even if the caller has gone.
            return await Task { await keep(response, of: poll, sent: sent, person) }.value
        } catch {
            return .failure(error)
        }
    }

    private func begin(_ poll: DevicePoll, _ polling: DevicePolling) -> Task<Void, Never> {
        // Without the vault's key, tokens that come too late could neither be kept nor revoked.
        gate.join()
        return polls.withLock { polls in
            let id = poll.interaction.id
            let task = Task {
                defer { gate.leave() }
                await poll.run(polling)
                self.polls.withLock { $0[id] = nil }
            }
            polls[id] = task
            return task
        }
    }

    /// Waits for the attempts of sign-ins that have ended, at shutdown. The HTTP client bounds the time.
    func finishPolls() async {
        while let poll = polls.withLock({ $0.values.first }) { await poll.value }
    }

    /// The person who must sign in, if the caller may have one account only.
    private func person(for request: DeviceCodeRequest) throws(BrokerError) -> KnownAccount? {
        guard let account = request.account else { return nil }
        let known = try cache.accounts(of: request.app, in: request.partition)
        let called = known.people(account, at: request.target, otherClouds: settings.otherClouds(of: request))
        guard let person = try called.uniqueMatch({ $0.account(for: request.app, in: known) }) else {
            throw AccountChoice.notFound
        }
        return person.who
    }

    /// Requests a code, for as long as the caller waits.
    private func code(
        for request: DeviceCodeRequest, _ interaction: Interaction<TokenResponse>
    ) async throws(BrokerError) -> (ProviderMetadata, ProofKey?, sent: Scopes, DeviceAuthorization) {
        let timer = request.timeout.map { timeout in
            Task { [clock] in
                try await clock.sleep(for: .seconds(timeout))
                interaction.end(
                    BrokerError(
                        .timedOut, "The provider gave no code within \(timeout.inSeconds); start the sign-in again."))
            }
        }
        defer { timer?.cancel() }
        let metadata = try await interaction.preparing { [self] () throws(BrokerError) in
            try await self.metadata(of: request.target)
        }
        // The account is not known yet, so there is no key to look up.
        let proofKey = try proofKeys.key(
            for: request.tokenType, binds: request.app.bindsRefreshToken(at: metadata), of: nil, at: metadata)
        let (sent, authorization) = try await authorize(request, at: metadata, interaction)
        return (metadata, proofKey, sent, authorization)
    }

    private func metadata(of authority: Authority) async throws(BrokerError) -> ProviderMetadata {
        let metadata = try await provider.metadata(for: authority)
        guard metadata.deviceAuthorizationEndpoint != nil else {
            throw BrokerError(
                .unsupported, "\(authority.environment) offers no sign-in on another device; sign in with a browser.")
        }
        return metadata
    }

    /// Requests a code. A provider that refuses `offline_access` is asked once more without it.
    ///
    /// - Returns: the requested scopes, and the provider's response.
    private func authorize(
        _ request: DeviceCodeRequest, at metadata: ProviderMetadata, _ interaction: Interaction<TokenResponse>
    ) async throws(BrokerError) -> (scopes: Scopes, DeviceAuthorization) {
        let client = ClientKey(of: request.app, at: request.target, in: request.partition)
        func scopes(withoutOfflineAccess: Bool) -> Scopes {
            ScopeRules.toAuthorize(
                request.scopes, extra: Scopes([]), at: metadata, setting: request.app.description.offlineAccess,
                withoutOfflineAccess: withoutOfflineAccess)
        }
        let asked = scopes(withoutOfflineAccess: try clients.refusesOfflineAccess(client))
        do throws(BrokerError) {
            return (asked, try await authorize(request, asked, at: metadata, interaction))
        } catch {
            guard request.app.description.offlineAccess == nil, OfflineRefusal.isPossible(error, to: asked) else {
                throw error
            }
            let less = scopes(withoutOfflineAccess: true)
            let authorization = try await authorize(request, less, at: metadata, interaction)
            await clients.learnOfOfflineAccess(from: error, to: asked, of: client)
            return (less, authorization)
        }
    }

    private func authorize(
        _ request: DeviceCodeRequest, _ scopes: Scopes, at metadata: ProviderMetadata,
        _ interaction: Interaction<TokenResponse>
    ) async throws(BrokerError) -> DeviceAuthorization {
        let asked = DeviceAuthorizationRequest(
            scopes: scopes, claims: request.extras.claims, resources: request.resources,
            parameters: request.parameters, correlationID: request.correlationID)
        return try await interaction.preparing { [provider] () throws(BrokerError) in
            try await ProviderErrors.mapping(at: request.target) { () throws(ProviderError) in
                try await provider.authorizeDevice(
                    asked, as: request.app.credentials(at: request.target), at: metadata)
            }
        }
    }

    private func opening(
        _ request: DeviceCodeRequest, _ authorization: DeviceAuthorization, _ interactionID: String, _ lifetime: Int64
    ) -> DeviceCodeOpening {
        let authority = request.target
        let page = authorization.verificationURI
        let otherHost = authority.isHost(of: page) ? nil : WebURL(page)?.server
        let message =
            authorization.message ?? "To sign in, open \(page) and enter the code \(authorization.userCode)."
        return DeviceCodeOpening(
            interactionID: interactionID, userCode: authorization.userCode, verificationURI: page,
            verificationURIComplete: authorization.verificationURIComplete, otherHost: otherHost,
            expiresOn: clock.now + lifetime, interval: authorization.interval,
            message: message + (otherHost.map { " That page is at \($0), not at \(authority.environment)." } ?? ""),
            correlationID: request.correlationID)
    }

    private func keep(
        _ response: TokenResponse, of poll: DevicePoll, sent: Scopes, _ person: KnownAccount?
    ) async -> Result<AcquiredToken, BrokerError> {
        let request = poll.request
        var requirements = SignInRequirements()
        requirements.account = person
        requirements.contexts = ClaimsRule.essentialContexts(in: request.claims)
        do throws(BrokerError) {
            return .success(
                try await store.keepSignedIn(
                    response, for: TokenRecipient(request), asked: request.scopes, sent: sent, nonce: nil,
                    requirements: requirements, amid: poll.interaction.erasures, at: request.target,
                    metadata: poll.metadata, proofKey: poll.proofKey))
        } catch {
            return .failure(error)
        }
    }
}

extension DeviceCodeRequest {
    /// Further parameters of the request and of the app's registration; the request takes precedence.
    fileprivate var parameters: [String: String] {
        let own = Set(query.extraParameters.keys.map { $0.lowercased() })
        let registered = (app.query ?? [:]).filter { !own.contains($0.key.lowercased()) }
        return registered.merging(query.extraParameters) { $1 }
    }
}
