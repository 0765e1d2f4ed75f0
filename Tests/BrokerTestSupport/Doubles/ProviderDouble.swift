import BrokerModel
import BrokerValues

/// A provider without a network, whose responses a test chooses. Codes are user names (`alice#2` is another person of the
/// same name); access tokens count up: `at-1`, `at-2` …
package final class ProviderDouble: IdentityProvider {
    package typealias Register = @Sendable (ClientRegistrationRequest) -> Result<RegisteredClient, ProviderError>
    package typealias Redeem = @Sendable (TokenGrant) async throws(ProviderError) -> TokenResponse

    private struct State: Sendable {
        var redeem: Redeem?
        var grants: [TokenGrant] = []
        var count = 0
        var nonce: String?
        var requests: [AuthorizationRequest] = []
        var binds = false
        var pushed: [AuthorizationRequest] = []
        var pushFailure: ProviderError?
        var extras: [TokenRequestExtras] = []
        var register: Register?
        var change: @Sendable (inout ProviderMetadata) -> Void = { _ in }
        var deviceRequests: [DeviceAuthorizationRequest] = []
        var device: DeviceAuthorization?
        var offersDeviceCode = true
        var revoked: [String] = []
        var userInfo: (@Sendable (String) -> UserInfo?)?
        var userInfoQuestions: [String] = []
        var claims: @Sendable (inout JSONObject) -> Void = { _ in }
        var endedSessions: [EndSessionRequest] = []
        var revocationFailure: ProviderError?
        var revocationGate: Gate?
        var metadataGate: Gate?
        var asked: [Authority] = []
        var told: [(place: Authority, client: ClientCredentials)] = []
        var expectations: [IDTokenExpectation] = []

        var refreshes: [String] {
            grants.compactMap { if case .refreshToken(let token, _) = $0 { token.revealed() } else { nil } }
        }
        var devicePolls: Int { grants.count { if case .deviceCode = $0 { true } else { false } } }
    }

    /// The home tenant of every user, if the provider has tenants.
    package static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"

    /// The gate at which refreshes wait.
    package let refreshGate = Gate(open: true)
    private let state = Watched(State())
    private let name: @Sendable (String) -> String

    /// - Parameter name: the claim `name` in a user's ID token.
    package init(name: @escaping @Sendable (String) -> String = { $0.capitalized }) { self.name = name }

    /// The requests to the token endpoint.
    package var grants: [TokenGrant] { state.withLock { $0.grants } }
    package var refreshes: [String] { state.withLock { $0.refreshes } }
    /// The scopes of the last request to the token endpoint, if that was a refresh.
    package var lastRefreshScopes: Scopes? {
        if case .refreshToken(_, let scopes) = grants.last { scopes } else { nil }
    }
    package var authorizations: [AuthorizationRequest] { state.withLock { $0.requests } }
    /// Authorization requests that were pushed.
    package var pushed: [AuthorizationRequest] { state.withLock { $0.pushed } }
    /// The extras of ``grants``, in the same order.
    package var extras: [TokenRequestExtras] { state.withLock { $0.extras } }

    /// Waits until this many requests have arrived at the token endpoint.
    package func waitForGrants(_ count: Int = 1) async throws { try await state.until { $0.grants.count >= count } }
    /// Waits until its metadata were asked for this many times.
    package func waitForQuestions(_ count: Int) async throws { try await state.until { $0.asked.count >= count } }
    package func waitForRefreshes(_ count: Int = 1) async throws {
        try await state.until { $0.refreshes.count >= count }
    }
    package func waitForDevicePolls(_ count: Int = 1) async throws {
        try await state.until { $0.devicePolls >= count }
    }
    /// Waits until this many tokens were revoked.
    package func waitForRevocations(_ count: Int = 1) async throws {
        try await state.until { $0.revoked.count >= count }
    }

    /// Replaces the metadata.
    package func offer(_ change: @escaping @Sendable (inout ProviderMetadata) -> Void) {
        state.withLock { $0.change = change }
    }

    package var deviceRequests: [DeviceAuthorizationRequest] { state.withLock { $0.deviceRequests } }
    /// How often the token endpoint was polled for a device code.
    package var devicePolls: Int { state.withLock { $0.devicePolls } }
    /// Tokens that were revoked (RFC 7009).
    package var revoked: [String] { state.withLock { $0.revoked } }

    package func answerDevice(with authorization: DeviceAuthorization?) {
        state.withLock { state in
            state.device = authorization
            state.offersDeviceCode = authorization != nil
        }
    }

    /// The authorities whose metadata was requested.
    package var asked: [Authority] { state.withLock { $0.asked } }
    /// The issuers that received a secret, a code or a refresh token, with the client's authentication.
    package var told: [(place: Authority, client: ClientCredentials)] { state.withLock { $0.told } }

    /// The requests for the end-session page.
    package var endedSessions: [EndSessionRequest] { state.withLock { $0.endedSessions } }

    package func failPushing(_ error: ProviderError?) { state.withLock { $0.pushFailure = error } }

    package func holdRevocations(at gate: Gate) { state.withLock { $0.revocationGate = gate } }

    /// From now on questions for metadata wait at the gate.
    package func holdMetadata(at gate: Gate) { state.withLock { $0.metadataGate = gate } }

    package func failRevocation(_ error: ProviderError?) { state.withLock { $0.revocationFailure = error } }

    /// From now on, requests with a proof get tokens bound to its key.
    package func bindTokens() {
        state.withLock {
            $0.redeem = nil
            $0.binds = true
        }
    }

    package func whenRedeeming(_ redeem: Redeem?) { state.withLock { $0.redeem = redeem } }

    /// A successful response: the next access and refresh token, and an ID token if there is a user.
    package func tokens(for user: String? = nil, scope: String? = nil, expiresIn: Int64 = 3600) -> TokenResponse {
        state.withLock { state in
            state.count += 1
            return TokenResponse(
                accessToken: Secret("at-\(state.count)"), expiresIn: expiresIn,
                refreshToken: Secret("rt-\(state.count)"), idToken: user.map { Secret($0) }, scope: scope)
        }
    }

    package func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        var metadata = ProviderMetadata(
            authority: authority, issuer: authority.url, authorizationEndpoint: authority.url + "/authorize",
            tokenEndpoint: authority.url + "/token", jwksURI: authority.url + "/jwks",
            revocationEndpoint: authority.url + "/revoke",
            deviceAuthorizationEndpoint: state.withLock { $0.offersDeviceCode } ? authority.url + "/device" : nil)
        let (change, gate) = state.withLock { state in
            state.asked.append(authority)
            return (state.change, state.metadataGate)
        }
        await gate?.wait()
        change(&metadata)
        return metadata
    }

    package func push(
        _ request: AuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> PushedAuthorization {
        guard metadata.pushedAuthorizationRequestEndpoint != nil else { throw .notOffered("It has no such endpoint.") }
        let failure = state.withLock { state in
            state.pushed.append(request)
            return state.pushFailure
        }
        if let failure { throw failure }
        return PushedAuthorization(requestURI: request.state, expiresIn: 60)
    }

    package func authorizationURL(
        of pushed: PushedAuthorization, as clientID: String, at metadata: ProviderMetadata
    ) -> String { "\(metadata.authorizationEndpoint)?request_uri=\(pushed.requestURI)" }

    package func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization {
        let device = state.withLock { state in
            state.deviceRequests.append(request)
            return state.device
        }
        if let device { return device }
        let page = "\(metadata.authority.url)/device"
        var authorization = DeviceAuthorization(
            deviceCode: Secret("dora"), userCode: "WDJB-MJHT", verificationURI: page, expiresIn: 600)
        authorization.verificationURIComplete = "\(page)?code=WDJB-MJHT"
        return authorization
    }

    /// UserInfo's response by access token; it refuses none.
    package func whenAskedWho(_ answer: @escaping @Sendable (String) -> UserInfo?) {
        state.withLock { $0.userInfo = answer }
    }

    package var userInfoQuestions: [String] { state.withLock { $0.userInfoQuestions } }

    package func userInfo(
        with accessToken: Secret, _ type: TokenType, provenBy key: ProofKey?, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> UserInfo {
        let answer = state.withLock { state in
            state.userInfoQuestions.append(accessToken.revealed())
            return state.userInfo
        }
        guard let told = answer?(accessToken.revealed()) else {
            throw .refused(OAuthRefusal(error: "invalid_token", status: 401))
        }
        return told
    }

    package func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) {
        await state.withLock { $0.revocationGate }?.wait()
        let failure = state.withLock { state in
            state.revoked.append(token.revealed())
            state.told.append((metadata.authority, client))
            return state.revocationFailure
        }
        if let failure { throw failure }
    }

    package func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String? {
        guard let endpoint = metadata.endSessionEndpoint else { return nil }
        state.withLock { $0.endedSessions.append(request) }
        return "\(endpoint)?state=\(request.state ?? "")"
    }

    package func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String {
        state.withLock { $0.requests.append(request) }
        return "\(metadata.authorizationEndpoint)?client_id=\(request.clientID)&state=\(request.state)"
    }

    package func whenRegistering(_ register: @escaping Register) { state.withLock { $0.register = register } }

    package func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient {
        guard let register = state.withLock({ $0.register }) else { throw .notOffered("It has no such endpoint.") }
        return try register(request).get()
    }

    package func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        let (redeem, binds) = state.withLock { state in
            state.grants.append(grant)
            state.extras.append(extras)
            state.told.append((metadata.authority, client))
            return (state.redeem, state.binds)
        }
        if case .refreshToken = grant { await refreshGate.wait() }
        if let redeem { return try await redeem(grant) }
        var response =
            switch grant {
            case .authorizationCode(let code, _, _), .deviceCode(let code): tokens(for: code.revealed())
            case .refreshToken: tokens()
            }
        if binds, extras.proofKey != nil { response.tokenType = .dpop }
        return response
    }

    /// Replaces the claims of ID tokens.
    package func say(_ change: @escaping @Sendable (inout JSONObject) -> Void) { state.withLock { $0.claims = change } }

    /// The expectations against which ID tokens were checked.
    package var expectations: [IDTokenExpectation] { state.withLock { $0.expectations } }

    package func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims {
        let user = idToken.revealed()
        state.withLock { $0.expectations.append(expectation) }
        guard user != "forged" else { throw .invalidResponse(status: nil, "the signature is wrong") }
        let username = String(user.prefix { $0 != "#" })
        var claims: JSONObject = [
            "preferred_username": .string(username), "name": .string(name(username)), "sub": .string(user),
        ]
        state.withLock { $0.claims }(&claims)
        if metadata.authority.hasTenants {
            claims.merge(["oid": .string(user), "tid": .string(Self.tenant)]) { $1 }
        }
        return IDTokenClaims(issuer: ExactText(metadata.issuer), subject: ExactText(user), all: claims)
    }
}
