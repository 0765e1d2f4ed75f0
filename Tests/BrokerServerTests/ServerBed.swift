import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerServer
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Glibc
import Logging
import Synchronization
import Testing

/// A whole broker in this process, on a real socket, over a real vault; only provider, clock and browser are doubles.
struct ServerBed: Sendable {
    let path: String
    let clock = ManualClock()
    /// Names have quotation marks in them, which an answer must escape.
    let provider = ProviderDouble { "The \"\($0)\"" }
    let browser = BrowserDouble()
    let inspector: PlainInspector
    let vault: FaultyVault
    let listener: LocalListener
    let broker: TokenBroker
    let policy: AccessPolicy
    let apps: AppDirectory

    static func run(
        servedUID: UInt32 = getuid(), requestsPerUser: Int? = nil, inspector: PlainInspector = PlainInspector(),
        presence: (any PresenceAuthority)? = nil, names: JournalNames.Style = .plain, log: Logger = .silent,
        limits: ConnectionLimits = .patient, front: @escaping (JSONRPCFront) -> any Front = { $0 },
        _ body: (ServerBed) async throws -> Void
    ) async throws {
        try await withTestBed { bed in
            let vault = try await FaultyVault.open(in: bed.path("state"))
            bed.atEnd { await vault.close() }
            let server = try await ServerBed(
                path: bed.path("broker.sock"), vault: vault, servedUID: servedUID, requestsPerUser: requestsPerUser,
                inspector: inspector, presence: presence, names: names, log: log, limits: limits, front: front, bed: bed
            )
            try await body(server)
        }
    }

    /// Runs with the app `mail`, to which Ann has signed in.
    static func runSignedIn(
        limits: ConnectionLimits = .patient, _ body: (ServerBed) async throws -> Void
    ) async throws {
        try await run(limits: limits) { server in
            try await server.register("mail")
            try await server.signIn("ann", to: "mail")
            try await body(server)
        }
    }

    private init(
        path: String, vault: FaultyVault, servedUID: UInt32, requestsPerUser: Int?, inspector: PlainInspector,
        presence: (any PresenceAuthority)?, names: JournalNames.Style, log: Logger, limits: ConnectionLimits,
        front makeFront: (JSONRPCFront) -> any Front, bed: TestBed
    ) async throws {
        self.path = path
        self.vault = vault
        self.inspector = inspector
        apps = AppDirectory(vault: vault, log: .silent)
        let grants = GrantStore(vault: vault, clock: clock, random: CountingRandom(), log: .silent)
        broker = TokenBroker(
            vault: vault, provider: provider, redirects: RedirectDouble(), browser: browser, roster: apps,
            proofs: testProofSigner(), clock: clock, random: CountingRandom(), log: .silent)
        var settings = AccessSettings(servedUID: servedUID)
        if presence != nil { settings.adminProof = .presence }
        policy = AccessPolicy(
            directory: apps, grants: grants, gate: broker.gate, quota: broker.quota, presence: presence,
            accounts: { [broker] in (try? broker.account(.username($0), of: $1, in: $2))?.id },
            settings: settings, log: .silent)
        // A separate clock, so that a test that waits for a sleeper does not meet the audit log's.
        let auditClock = ManualClock()
        var parts = ServerParts(
            broker: broker, apps: apps, policy: policy,
            audit: AuditLog(vault: vault, clock: auditClock, random: CountingRandom(), log: .silent), vault: vault,
            inspector: inspector,
            clock: clock,
            process: ProcessFacts(version: "1.2.3", mode: .user, startedAt: clock.uptime), log: log)
        let sandboxes = SandboxSockets(
            in: SandboxFolders(beside: path), clock: clock, random: CountingRandom(), log: .silent)
        parts.sandboxes = sandboxes
        parts.names.style = names
        parts.requestsPerUser = requestsPerUser
        let server = Server(parts)
        let front = server.serving(makeFront(JSONRPCFront(server.requests)))
        let reactor = try Reactor()
        bed.atEnd { await reactor.stop() }
        let listener = try await LocalListener.start(
            ListeningSocket.bind(SocketPlace(path: path)), on: reactor, service: front, limits: limits,
            logger: .silent)
        self.listener = listener
        sandboxes.begin(beside: listener, SandboxFront(front))
        bed.atEnd { [provider, clock] in
            await sandboxes.shutDown(within: .zero)
            provider.refreshGate.open()
            await listener.shutDown(within: .milliseconds(200))
            clock.end()
            auditClock.end()
        }
    }

    func connect() async throws -> LineClient { try await LineClient.connect(to: path) }

    /// A client with a request that waits for a refresh, which the provider answers when its gate opens.
    func holdRefresh(id: Int64 = 1) async throws -> LineClient {
        provider.refreshGate.close()
        let client = try await connect()
        var slow = AcquireTokenSilent.Params.of("mail")
        slow.forceRefresh = true
        try await client.send(AcquireTokenSilent.requestLine(id: id, slow))
        try await provider.refreshGate.waitForCallers()
        return client
    }

    static let authority = "https://login.example"

    func register(_ name: String, group: String? = nil) async throws {
        var params = RegisterApp.Params(name: name, clientId: "client-of-\(name)", authority: Self.authority)
        params.description.group = group
        _ = try await connect().call(RegisterApp.self, params)
    }

    /// Signs a person in to an app, the way a client with a pasted redirect does.
    @discardableResult
    func signIn(
        _ username: String, to app: String, scopes: [String] = ["read"], resources: [String] = []
    ) async throws -> Token {
        let client = try await connect()
        var params = AcquireTokenInteractive.Params(.registered(app), scopes: scopes)
        params.query.resources = resources
        try await client.send(AcquireTokenInteractive.requestLine(id: 1, params))
        let opening = try await client.readOpening()
        _ = try await connect().call(CompleteInteraction.self, .init(url: opening.redirect(code: username)))
        return try Token(reading: try await client.readResult())
    }
}

/// Counts events.
final class Tally: Sendable {
    private let state = Atomic(0)
    var count: Int { state.load(ordering: .sequentiallyConsistent) }
    func add() { state.add(1, ordering: .sequentiallyConsistent) }
}

extension InteractionOpening {
    /// The address to which the provider would send the browser.
    func redirect(code: String) -> String {
        let state = url.split(separator: "&").first { $0.hasPrefix("state=") } ?? ""
        return "\(redirectURI)?code=\(code)&\(state)"
    }
}

extension LineClient {
    /// The next line, as JSON.
    func readJSON() async throws -> JSONNode {
        let line = try #require(try await readLine(), "the connection was closed")
        return try JSONReader.read(line.utf8)
    }

    func readResult() async throws -> JSONNode {
        let answer = try await readJSON()
        if let error = answer["error"] { throw try RPCError(reading: error) }
        return try #require(answer["result"])
    }

    /// The next line, which must be this notification; counted on arrival.
    func readEvent<Event: BrokerNotification>(_: Event.Type, _ tally: Tally? = nil) async throws -> Event.Params {
        let line = try await readJSON()
        tally?.add()
        guard case .string(Event.name)? = line["method"] else { throw Unexpected(line: line) }
        return try Event.Params(reading: try #require(line["params"]))
    }

    func readOpening() async throws -> InteractionOpening { try await readEvent(InteractionOpen.self) }

    func call<M: BrokerMethod>(_: M.Type, _ params: M.Params) async throws -> M.Result {
        try await send(M.requestLine(id: 1, params))
        return try M.Result(reading: try await readResult())
    }

    /// The error in the answer to a request.
    func refusal(_ line: String) async throws -> RPCError {
        try await sendLine(line)
        return try RPCError(reading: try #require(try await readJSON()["error"]))
    }

    /// The error in the answer to the request; `nil` if the answer is a result.
    func refusal<M: BrokerMethod>(of _: M.Type, _ params: M.Params) async throws -> RPCError? {
        try await send(M.requestLine(id: 1, params))
        return try await readRefusal()
    }

    func readRefusal() async throws -> RPCError? {
        try await readJSON()["error"].map { try RPCError(reading: $0) }
    }

    struct Unexpected: Error { let line: JSONNode }
}

extension AcquireTokenSilent.Params {
    static func of(_ app: String, _ scopes: [String] = ["read"]) -> Self { .init(.registered(app), scopes: scopes) }
}

extension ConnectionLimits {
    /// No connections are evicted, however long a test takes.
    static var patient: ConnectionLimits {
        var limits = ConnectionLimits()
        limits.quiet = .seconds(86_400)
        return limits
    }
}
