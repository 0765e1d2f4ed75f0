import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization

/// A provider without a network. A code is the username of who signed in; tokens are numbered.
final class ScriptedProvider: PlainProvider {
    private let count = Mutex((issued: 0, refreshes: 0))
    /// Refreshes wait here.
    let refreshGate = Gate(open: true)

    var refreshes: Int { count.withLock { $0.refreshes } }

    func metadata(of authority: Authority) async throws(ProviderError) -> ProviderMetadata {
        ProviderMetadata(
            authority: authority, issuer: authority.url, authorizationEndpoint: "\(authority.url)/authorize",
            tokenEndpoint: "\(authority.url)/token", jwksURI: "\(authority.url)/jwks",
            deviceAuthorizationEndpoint: "\(authority.url)/device_authorization")
    }

    func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization {
        var authorization = DeviceAuthorization(
            deviceCode: Secret("dora"), userCode: "WDJB-MJHT", verificationURI: "\(metadata.authority.url)/device",
            expiresIn: 600)
        authorization.verificationURIComplete = "\(metadata.authority.url)/device?code=WDJB-MJHT"
        return authorization
    }

    func authorizationURL(_ request: AuthorizationRequest, at metadata: ProviderMetadata) -> String {
        "\(metadata.authorizationEndpoint)?client_id=\(request.clientID)&state=\(request.state)"
    }

    func redeem(
        _ grant: TokenGrant, with extras: TokenRequestExtras, as client: ClientCredentials,
        at metadata: ProviderMetadata
    ) async throws(ProviderError) -> TokenResponse {
        let username: String
        var scope: String?
        switch grant {
        case .authorizationCode(let code, _, _), .deviceCode(let code): username = code.revealed()
        case .refreshToken(let token, let scopes):
            count.withLock { $0.refreshes += 1 }
            await refreshGate.pass()
            username = String(token.revealed().split(separator: ":")[1])
            scope = scopes.parameter
        }
        let number = count.withLock { count in
            count.issued += 1
            return count.issued
        }
        return TokenResponse(
            accessToken: Secret("access:\(username):\(number)"), expiresIn: 3600,
            refreshToken: Secret("refresh:\(username):\(number)"), idToken: Secret("id:\(username):\(number)"),
            scope: scope)
    }

    func verify(
        idToken: Secret, against expectation: IDTokenExpectation, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> IDTokenClaims {
        let username = String(idToken.revealed().split(separator: ":")[1])
        return IDTokenClaims(
            issuer: metadata.issuer, subject: "subject-of-\(username)",
            all: ["preferred_username": .string(username), "name": .string("The \"\(username)\"")])
    }
}

/// Listens nowhere: these tests hand redirects in by `interaction.complete`.
struct NoListener: RedirectListener {
    struct Endpoint: RedirectEndpoint {
        let redirectURI = "http://127.0.0.1:1/callback"
        func close() async {}
    }

    func open(
        _ target: RedirectTarget, answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint { Endpoint() }
}

/// Keeps what it was asked to show.
final class KeptBrowser: BrowserOpener {
    private let urls = Mutex<[String]>([])
    var opened: [String] { urls.withLock { $0 } }
    func open(_ url: String) async throws(BrowserError) { urls.withLock { $0.append(url) } }
}

/// Takes every peer for a program outside of sandboxes, or for the Flatpak that the test wants.
struct PlainInspector: PeerInspector {
    var sandboxID: String?

    func inspect(_ credentials: PeerCredentials) -> PeerFacts {
        var facts = PeerFacts(uid: credentials.uid, gid: credentials.gid, pid: credentials.pid)
        facts.isPinned = true
        (facts.rootMount, facts.userNamespace, facts.pidNamespace) = (sandboxID == nil ? .same : .other, .same, .same)
        facts.cgroup = ControlGroup(path: "/")
        facts.executable = "/test"
        facts.flatpakID = sandboxID
        return facts
    }
}

struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
}

/// A vault some of whose records do not open any more.
struct FaultyVault: RecordVault {
    let vault: any RecordVault
    let refusesSecrets = Flag()

    final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    func load<Record: VaultRecord>(
        _ type: Record.Type, bucket: [String], in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] { try vault.load(type, bucket: bucket, in: partition) }

    func loadAll<Record: VaultRecord>(
        _ type: Record.Type, in partition: Partition
    ) throws(VaultError) -> [StoredRecord<Record>] { try vault.loadAll(type, in: partition) }

    func seal<Record: VaultRecord>(
        _ record: Record, secret: Secret?, in partition: Partition
    ) throws(VaultError) -> StoredRecord<Record> { try vault.seal(record, secret: secret, in: partition) }

    func commit(_ change: VaultChange) async throws(VaultError) { try await vault.commit(change) }

    func withSecret<Result>(
        of sealed: SealedRecord, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        if refusesSecrets.isSet { throw .recordDamaged }
        return try vault.withSecret(of: sealed, body)
    }

    func statistics() throws(VaultError) -> VaultStatistics { try vault.statistics() }
}
