import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import BrokerVault
import Foundation
import Synchronization

/// A provider that answers what the test says. Codes are user names (`alice#2` is another person of the same name); access
/// tokens count up: `at-1`, `at-2` …
final class ProviderDouble: PlainProvider {
    typealias Register = @Sendable (ClientRegistrationRequest) -> Result<RegisteredClient, ProviderError>
    typealias Redeem = @Sendable (TokenGrant) async throws(ProviderError) -> TokenResponse

    private struct State {
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
        var device = DeviceAuthorization(
            deviceCode: Secret("device-1"), userCode: "WDJB-MJHT", verificationURI: "https://id.example.org/device",
            expiresIn: 600)
        var offersDeviceCode = true
        var revoked: [String] = []
        var endedSessions: [EndSessionRequest] = []
        var revocationFailure: ProviderError?
        var asked: [Authority] = []
        var told: [(place: Authority, client: ClientCredentials)] = []
    }

    /// Where everybody is at home, if the provider has tenants.
    static let tenant = "aaaabbbb-0000-cccc-1111-dddd2222eeee"

    private let state = Mutex(State())

    /// What came to the token endpoint.
    var grants: [TokenGrant] { state.withLock { $0.grants } }
    var refreshes: [String] {
        grants.compactMap { if case .refreshToken(let token, _) = $0 { token.revealed() } else { nil } }
    }
    var authorizations: [AuthorizationRequest] { state.withLock { $0.requests } }
    /// Authorization requests that were handed in beforehand.
    var pushed: [AuthorizationRequest] { state.withLock { $0.pushed } }
    /// What accompanied ``grants``.
    var extras: [TokenRequestExtras] { state.withLock { $0.extras } }

    /// What the metadata say from now on.
    func offer(_ change: @escaping @Sendable (inout ProviderMetadata) -> Void) { state.withLock { $0.change = change } }

    var deviceRequests: [DeviceAuthorizationRequest] { state.withLock { $0.deviceRequests } }
    /// How often the token endpoint was asked about a device code.
    var devicePolls: Int {
        grants.count { if case .deviceCode = $0 { true } else { false } }
    }
    /// Tokens that were given back (RFC 7009).
    var revoked: [String] { state.withLock { $0.revoked } }

    func answerDevice(with authorization: DeviceAuthorization?) {
        state.withLock { state in
            if let authorization { state.device = authorization }
            state.offersDeviceCode = authorization != nil
        }
    }

    /// Whose metadata was asked for.
    var asked: [Authority] { state.withLock { $0.asked } }
    /// Who was given something that is secret, a code or a refresh token, and how the client proved itself there.
    var told: [(place: Authority, client: ClientCredentials)] { state.withLock { $0.told } }

    /// What was asked of the page that ends the browser's session.
    var endedSessions: [EndSessionRequest] { state.withLock { $0.endedSessions } }

    func failPushing(_ error: ProviderError?) { state.withLock { $0.pushFailure = error } }

    func failRevocation(_ error: ProviderError?) { state.withLock { $0.revocationFailure = error } }

    /// From now on, requests with a proof get tokens that are bound to its key.
    func bindTokens() {
        state.withLock {
            $0.redeem = nil
            $0.binds = true
        }
    }

    func whenRedeeming(_ redeem: Redeem?) { state.withLock { $0.redeem = redeem } }

    /// A good answer: the next access and refresh token, and an ID token when there is a user.
    func tokens(for user: String? = nil, scope: String? = nil, expiresIn: Int64 = 3600) -> TokenResponse {
        state.withLock { state in
            state.count += 1
            return TokenResponse(
                accessToken: Secret("at-\(state.count)"), expiresIn: expiresIn,
                refreshToken: Secret("rt-\(state.count)"), idToken: user.map(Secret.init), scope: scope)
        }
    }

    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        var metadata = ProviderMetadata(
            authority: authority, issuer: authority.url, authorizationEndpoint: authority.url + "/authorize",
            tokenEndpoint: authority.url + "/token", jwksURI: authority.url + "/jwks",
            deviceAuthorizationEndpoint: state.withLock { $0.offersDeviceCode } ? authority.url + "/device" : nil)
        let change = state.withLock { state in
            state.asked.append(authority)
            return state.change
        }
        change(&metadata)
        return metadata
    }

    func push(
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

    func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization {
        state.withLock { state in
            state.deviceRequests.append(request)
            return state.device
        }
    }

    func revoke(
        _ token: Secret, _ kind: RevocableToken, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) {
        let failure = state.withLock { state in
            state.revoked.append(token.revealed())
            state.told.append((metadata.authority, client))
            return state.revocationFailure
        }
        if let failure { throw failure }
    }

    func endSessionURL(_ request: EndSessionRequest, at metadata: ProviderMetadata) -> String? {
        guard let endpoint = metadata.endSessionEndpoint else { return nil }
        state.withLock { $0.endedSessions.append(request) }
        return "\(endpoint)?state=\(request.state ?? "")"
    }

    func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String {
        state.withLock { $0.requests.append(request) }
        return "\(metadata.authorizationEndpoint)?state=\(request.state)"
    }

    func whenRegistering(_ register: @escaping Register) { state.withLock { $0.register = register } }

    func register(
        _ request: ClientRegistrationRequest, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> RegisteredClient {
        guard let register = state.withLock({ $0.register }) else { throw .notOffered("It has no such endpoint.") }
        return try register(request).get()
    }

    func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        let (redeem, binds) = state.withLock { state in
            state.grants.append(grant)
            state.extras.append(extras)
            state.told.append((metadata.authority, client))
            return (state.redeem, state.binds)
        }
        if let redeem { return try await redeem(grant) }
        var response: TokenResponse
        if case .authorizationCode(let code, _, _) = grant {
            response = tokens(for: code.revealed())
        } else {
            response = tokens()
        }
        if binds, extras.proofKey != nil { response.tokenType = .dpop }
        return response
    }

    func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims {
        let user = idToken.revealed()
        guard user != "forged" else { throw .invalidResponse(status: nil, "the signature is wrong") }
        let name = String(user.prefix { $0 != "#" })
        var claims: JSONObject = [
            "preferred_username": .string(name), "name": .string(name.capitalized), "sub": .string(user),
        ]
        if metadata.authority.hasTenants {
            claims.merge(["oid": .string(user), "tid": .string(Self.tenant)]) { $1 }
        }
        return IDTokenClaims(issuer: metadata.issuer, subject: user, all: claims)
    }
}

/// Keeps what the engine waits with; the test is the browser that comes back.
final class RedirectDouble: RedirectListener {
    typealias Answer = @Sendable (RedirectParameters) async -> RedirectPage

    struct Endpoint: RedirectEndpoint {
        let redirectURI: String
        let closed: @Sendable () -> Void
        func close() async { closed() }
    }

    private let answers = Mutex<[String: Answer]>([:])
    private let port = Mutex(50_000)

    var isListening: Bool { answers.withLock { !$0.isEmpty } }

    func open(
        _ target: RedirectTarget, answer: @escaping Answer
    ) async throws(RedirectError) -> any RedirectEndpoint {
        if case .fixed(_, 1, _) = target { throw .portInUse(1) }
        let uri = port.withLock { port in
            port += 1
            return "http://127.0.0.1:\(port)/"
        }
        answers.withLock { $0[uri] = answer }
        return Endpoint(redirectURI: uri) { self.answers.withLock { $0[uri] = nil } }
    }

    /// The browser comes back with this query.
    func visit(_ redirectURI: String, query: String) async -> RedirectPage? {
        await answers.withLock { $0[redirectURI] }?(RedirectParameters(query: query[...]))
    }

    /// The provider says yes.
    func visit(_ opening: InteractionOpening, code: String) async -> RedirectPage? {
        await visit(opening.redirectURI, query: "code=\(code)&state=\(opening.state)")
    }
}

extension InteractionOpening {
    var state: String { String(url.split(separator: "=").last ?? "") }
}

struct NoBrowser: BrowserOpener {
    func open(_ url: String) async throws(BrowserError) { throw BrowserError("there is none") }
}

final class RosterDouble: AppRoster {
    private let known = Mutex<[AppRegistration]>([])
    private let failure = Mutex<BrokerError?>(nil)

    func set(_ apps: [AppRegistration]) { known.withLock { $0 = apps } }
    func fail(_ error: BrokerError?) { failure.withLock { $0 = error } }

    func apps(in partition: Partition) -> [AppRegistration] {
        failure.withLock { $0 } == nil ? known.withLock { $0 } : []
    }

    func members(of group: GroupID, in partition: Partition) throws(BrokerError) -> [GroupMember] {
        if let error = failure.withLock({ $0 }) { throw error }
        return known.withLock { $0 }.filter { $0.effectiveGroup == group }.map { GroupMember($0) }
    }
}

/// A real vault whose disk can be made full, or lose the secrets of a kind of record.
final class StubbornVault: RecordVault {
    let real: any RecordVault & Closable
    private let refusal = Mutex<VaultError?>(nil)
    private let damaged = Mutex<RecordKind?>(nil)
    private let gate = Mutex<(gate: Gate, waiting: Int)?>(nil)

    init(_ real: any RecordVault & Closable) { self.real = real }

    func refuse(_ error: VaultError?) { refusal.withLock { $0 = error } }

    /// From now on what is written waits for the gate.
    func hold(until gate: Gate) { self.gate.withLock { $0 = (gate, 0) } }

    /// How many changes wait, or have waited.
    var held: Int { gate.withLock { $0?.waiting ?? 0 } }

    /// From now on no record of the kind opens.
    func damage(_ kind: RecordKind?) { damaged.withLock { $0 = kind } }

    func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] { try real.load(type, bucket: bucket, in: partition) }

    func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] { try real.loadAll(type, in: partition) }

    func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record> { try real.seal(record, secret: secret, in: partition) }

    func commit(_ change: VaultChange) async throws(VaultError) {
        if let error = refusal.withLock({ $0 }) { throw error }
        let gate = gate.withLock { gate in
            gate?.waiting += 1
            return gate?.gate
        }
        await gate?.wait()
        try await real.commit(change)
    }

    func withSecret<Result>(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        guard sealed.kind != damaged.withLock({ $0 }) else { throw .recordDamaged }
        return try real.withSecret(of: sealed, body)
    }

    func statistics() throws(VaultError) -> VaultStatistics { try real.statistics() }
}

protocol Closable: Sendable {
    func close() async
}

extension Vault: Closable {}
