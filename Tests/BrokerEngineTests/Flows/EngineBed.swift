import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation

/// An engine over a real vault in a folder of its own; the test controls provider, browser and clock.
final class EngineBed: Sendable {
    let provider = ProviderDouble()
    let redirects = RedirectDouble()
    let clock = ManualClock(now: Sample.now)
    let roster = RosterDouble()
    let log = LogCollector()
    let vault: FaultyVault
    let engine: TokenBroker
    private let folder: String

    init() async throws {
        folder = NSTemporaryDirectory() + "engine-\(UUID().uuidString)"
        vault = try await FaultyVault.open(in: folder)
        engine = Self.engine(vault, provider, redirects, roster, clock, log)
    }

    deinit {
        clock.end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Another engine on the same disk, as after a restart. The first one must not be used any more.
    func restarted() async throws -> TokenBroker {
        await engine.drain()
        await vault.close()
        let reopened = try await FaultyVault.open(in: folder)
        return Self.engine(reopened, provider, redirects, roster, clock, log)
    }

    private static func engine(
        _ vault: FaultyVault, _ provider: ProviderDouble, _ redirects: RedirectDouble, _ roster: RosterDouble,
        _ clock: ManualClock, _ log: LogCollector
    ) -> TokenBroker {
        TokenBroker(
            vault: vault, provider: provider, redirects: redirects, browser: BrowserDouble(), roster: roster,
            proofs: testProofSigner(), clock: clock, random: CountingRandom(), log: log.logger)
    }

    // MARK: What tests do over and over

    func silent(
        _ app: AppRegistration = Sample.app(), _ scopes: [String] = ["mail.read"],
        _ change: (inout SilentDraft) -> Void = { _ in }
    ) -> SilentRequest {
        var draft = SilentDraft(app: app, query: TokenQuery(scopes: scopes))
        change(&draft)
        return draft.request
    }

    func interactive(
        _ app: AppRegistration = Sample.app(), _ scopes: [String] = ["mail.read"],
        _ change: (inout InteractiveRequest) -> Void = { _ in }
    ) -> InteractiveRequest {
        var request = InteractiveRequest(
            partition: Sample.partition, app: app, query: TokenQuery(scopes: scopes), interaction: InteractiveQuery(),
            correlationID: "correlation-1")
        change(&request)
        return request
    }

    /// A sign-in that waits for the test.
    func begin(_ request: InteractiveRequest) -> (browser: Browser, ending: Task<AcquiredToken, any Error>) {
        Browser.during { [engine] browser in try await engine.acquireInteractive(request) { browser.opened($0) } }
    }

    /// A successful sign-in.
    @discardableResult
    func signIn(
        _ user: String = "alice", _ app: AppRegistration = Sample.app(), _ scopes: [String] = ["mail.read"]
    ) async throws -> AcquiredToken {
        try await signIn(user, interactive(app, scopes))
    }

    @discardableResult
    func signIn(_ user: String, _ request: InteractiveRequest) async throws -> AcquiredToken {
        let (browser, signIn) = begin(request)
        _ = try await redirects.visit(browser.opening(), code: user)
        return try await signIn.value
    }

    /// Alice is signed in to one app, and her code for another is at the provider, which answers when the gate opens.
    func redeeming(
        for app: AppRegistration, besides other: AppRegistration, byDevice: Bool = false,
        _ change: @escaping @Sendable (inout TokenResponse) -> Void = { _ in }
    ) async throws -> (gate: Gate, signIn: Task<AcquiredToken, any Error>) {
        roster.set([app, other])
        try await signIn("alice", other)
        let gate = holdTokens(for: "alice", change)
        let ending: Task<AcquiredToken, any Error>
        if byDevice {
            let request = DeviceCodeRequest(
                partition: Sample.partition, app: app, query: TokenQuery(scopes: ["mail.read"]), correlationID: "c")
            ending = Task { [engine] in try await engine.acquireByDeviceCode(request) { _ in } }
            try await clock.waitForSleepers()
            clock.advance(bySeconds: 5)
        } else {
            let (browser, begun) = begin(interactive(app))
            let opening = try await browser.opening()
            Task { [redirects] in await redirects.visit(opening, code: "alice") }
            ending = begun
        }
        try await provider.waitForGrants(2)
        return (gate, ending)
    }

    /// From now on the provider issues tokens only when the gate is open.
    func holdTokens(
        for user: String? = nil, _ change: @escaping @Sendable (inout TokenResponse) -> Void = { _ in }
    ) -> Gate {
        let gate = Gate()
        provider.whenRedeeming { [unowned provider] _ in
            await gate.wait()
            var response = provider.tokens(for: user)
            change(&response)
            return response
        }
        return gate
    }

    /// Whether each authorization request so far asked for a refresh token.
    var asksOffline: [Bool] { provider.authorizations.map { $0.scopes.normalized.contains("offline_access") } }

    func text(_ token: AcquiredToken) throws -> String { try vault.secret(of: token.token.sealed).revealed() }
}

/// The client's side of `interaction.open`.
final class Browser: Sendable {
    private let (stream, continuation) = AsyncThrowingStream.makeStream(of: InteractionOpening.self)
    func opened(_ opening: InteractionOpening) { continuation.yield(opening) }

    /// Starts a request that is to open a browser.
    static func during<Value: Sendable>(
        _ request: @escaping @Sendable (Browser) async throws -> Value
    ) -> (browser: Browser, ending: Task<Value, any Error>) {
        let browser = Browser()
        let task = Task {
            do {
                let value = try await request(browser)
                browser.continuation.finish()
                return value
            } catch {
                browser.continuation.finish(throwing: error)
                throw error
            }
        }
        return (browser, task)
    }

    /// - Throws: the error that ended the request before a URL was opened.
    func opening() async throws -> InteractionOpening {
        for try await opening in stream { return opening }
        throw NothingOpened()
    }

    private struct NothingOpened: Error {}
}

extension RedirectDouble {
    /// The provider accepts the sign-in.
    func visit(_ opening: InteractionOpening, code: String) async -> RedirectPage? {
        await visit(opening.redirectURI, query: "code=\(code)&state=\(opening.state)")
    }
}

extension InteractionOpening {
    var state: String { String(url.split(separator: "=").last ?? "") }
}

extension SignOutStages.Outcome {
    /// The sentence about a failed stage.
    var failure: String? { if case .failed(let why) = self { why } else { nil } }
}

/// A mutable draft of a ``SilentRequest``.
@dynamicMemberLookup
struct SilentDraft {
    var partition = Sample.partition
    var app: AppRegistration
    var authority: Authority?
    var query: TokenQuery
    var isInstanceAware = false
    var forceRefresh = false
    var rejectedToken: Secret?
    var ceiling: Scopes?
    var correlationID = "correlation-1"

    init(app: AppRegistration, query: TokenQuery) {
        self.app = app
        self.query = query
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<TokenQuery, Value>) -> Value {
        get { query[keyPath: path] }
        set { query[keyPath: path] = newValue }
    }

    var request: SilentRequest {
        SilentRequest(
            partition: partition, app: app, authority: authority, query: query, isInstanceAware: isInstanceAware,
            forceRefresh: forceRefresh, rejectedToken: rejectedToken, ceiling: ceiling, correlationID: correlationID)
    }
}
