import BrokerModel
import BrokerValues
import Logging

/// `token.acquireByDeviceCode`: the person signs in on another device, and the broker asks until they are done
/// (RFC 8628).
struct DeviceCodeAcquisition: Sendable {
    let services: EngineServices
    let request: DeviceCodeRequest

    /// Seconds; beyond it no provider's code is good.
    private static let longestWait: Int64 = 86_400

    private var authority: Authority { request.target }

    func acquire(onCode: @Sendable (DeviceCodeOpening) -> Void) async throws(BrokerError) -> AcquiredToken {
        try ScopeRules.check(request.scopes)
        try ExtraParameters.check(request.extraParameters) { AuthorizationRequest.reservedForTokens.contains($0) }
        try TenantRules.check(request.authority, for: request.app)
        let person = try person()
        // No browser comes back here, so it expects no redirect.
        let interaction = Interaction<TokenResponse>(
            for: request.app, of: request.claimant, in: request.partition, services)
        // Before the provider is asked: codes that nobody may wait for are not fetched either.
        try services.interactions.add(interaction)
        defer { services.interactions.remove(interaction) }
        let metadata = try await metadata()
        // Nobody knows yet who will sign in, so there is no key to be found.
        let proofKey = try ProofKeys(services: services).key(
            for: request.tokenType, binds: request.app.bindsRefreshToken(at: metadata), of: nil, at: metadata)
        let (sent, authorization) = try await authorize(at: metadata)
        let lifetime = min(authorization.expiresIn, request.timeout ?? .max, Self.longestWait)
        let poll = DevicePoll(
            services: services, request: request, interaction: interaction, metadata: metadata,
            deviceCode: authorization.deviceCode, proofKey: proofKey)
        onCode(opening(authorization, interaction.id, lifetime))
        services.tellOfInteraction(.opened, interaction.id, for: request.app, in: request.partition)
        let outcome = await outcome(of: interaction, poll, authorization, lifetime, sent: sent, person)
        services.tellOfInteraction(outcome, interaction.id, for: request.app, in: request.partition)
        return try outcome.get()
    }

    private func outcome(
        of interaction: Interaction<TokenResponse>, _ poll: DevicePoll, _ authorization: DeviceAuthorization,
        _ lifetime: Int64, sent: Scopes, _ person: SignInRequirements.Person?
    ) async -> Result<AcquiredToken, BrokerError> {
        let polling = Task {
            await poll.run(
                DevicePolling(
                    interval: authorization.interval, deadline: services.clock.uptime + .seconds(lifetime)))
        }
        defer { polling.cancel() }
        do throws(BrokerError) {
            let response = try await interaction.answer()
            // The device code is good once: what it brought is kept even when the caller has gone.
            return await Task { await keep(response, of: poll, sent: sent, person) }.value
        } catch {
            return .failure(error)
        }
    }

    /// Who must sign in, where the caller may have one account only.
    private func person() throws(BrokerError) -> SignInRequirements.Person? {
        guard let account = request.account else { return nil }
        let known = try services.knownAccounts(of: request.app, in: request.partition)
        let called = known.people(account, at: request.target, otherClouds: services.otherClouds(of: request))
        guard let person = try called.theOne({ $0.account(for: request.app, in: known) }) else {
            throw AccountChoice.notFound
        }
        return SignInRequirements.Person(person.who)
    }

    private func metadata() async throws(BrokerError) -> ProviderMetadata {
        let metadata = try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.metadata(of: authority)
        }
        guard metadata.deviceAuthorizationEndpoint != nil else {
            throw BrokerError(
                .unsupported, "\(authority.environment) offers no sign-in on another device; sign in with a browser.")
        }
        return metadata
    }

    /// - Returns: what was asked for as well: a provider that refuses `offline_access` is asked once more, without.
    private func authorize(
        at metadata: ProviderMetadata
    ) async throws(BrokerError) -> (scopes: Scopes, DeviceAuthorization) {
        let client = CacheIndex.ClientKey(of: request.app, at: authority, in: request.partition)
        func scopes(withoutOfflineAccess: Bool) -> Scopes {
            ScopeRules.toAuthorize(
                request.scopes, extra: Scopes([]), at: metadata, setting: request.app.description.offlineAccess,
                withoutOfflineAccess: withoutOfflineAccess)
        }
        let asked = scopes(withoutOfflineAccess: try services.refusesOfflineAccess(client))
        do throws(BrokerError) {
            return (asked, try await authorize(asked, at: metadata))
        } catch {
            guard request.app.description.offlineAccess == nil, OfflineRefusal.isPossible(error, to: asked) else {
                throw error
            }
            let less = scopes(withoutOfflineAccess: true)
            let authorization = try await authorize(less, at: metadata)
            await services.learnOfOfflineAccess(from: error, to: asked, of: client)
            return (less, authorization)
        }
    }

    private func authorize(
        _ scopes: Scopes, at metadata: ProviderMetadata
    ) async throws(BrokerError) -> DeviceAuthorization {
        let asked = DeviceAuthorizationRequest(
            scopes: scopes, claims: request.extras.claims, resources: request.resources,
            parameters: parameters, correlationID: request.correlationID)
        return try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.authorizeDevice(
                asked, as: request.app.credentials(at: request.target), at: metadata)
        }
    }

    /// What the request says comes before what the app is registered with.
    private var parameters: [String: String] {
        let own = Set(request.extraParameters.keys.map { $0.lowercased() })
        let registered = (request.app.query ?? [:]).filter { !own.contains($0.key.lowercased()) }
        return registered.merging(request.extraParameters) { $1 }
    }

    private func opening(
        _ authorization: DeviceAuthorization, _ interactionID: String, _ lifetime: Int64
    ) -> DeviceCodeOpening {
        let page = authorization.verificationURI
        let otherHost = authority.isHost(of: page) ? nil : WebURL(page)?.server
        let message =
            authorization.message ?? "To sign in, open \(page) and enter the code \(authorization.userCode)."
        return DeviceCodeOpening(
            interactionID: interactionID, userCode: authorization.userCode, verificationURI: page,
            verificationURIComplete: authorization.verificationURIComplete, otherHost: otherHost,
            expiresOn: services.clock.now + lifetime, interval: authorization.interval,
            message: message + (otherHost.map { " That page is at \($0), not at \(authority.environment)." } ?? ""),
            correlationID: request.correlationID)
    }

    private func keep(
        _ response: TokenResponse, of poll: DevicePoll, sent: Scopes, _ person: SignInRequirements.Person?
    ) async -> Result<AcquiredToken, BrokerError> {
        let grants = TokenResponseStore(
            services: services, app: request.app, partition: request.partition, resources: request.resources,
            tokenType: request.tokenType)
        var requirements = SignInRequirements()
        requirements.account = person
        requirements.contexts = ClaimsRule.essentialContexts(in: request.claims)
        do throws(BrokerError) {
            return .success(
                try await grants.keepSignedIn(
                    response, asked: request.scopes, sent: sent, nonce: nil, requirements: requirements, at: authority,
                    metadata: poll.metadata, proofKey: poll.proofKey))
        } catch {
            return .failure(error)
        }
    }
}
