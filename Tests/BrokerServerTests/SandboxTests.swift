import BrokerModel
import BrokerRPC
import BrokerServer
import BrokerTestSupport
import BrokerValues
import Glibc
import Testing

/// The test itself runs outside of sandboxes, and so do all its clients: only the socket identifies the sandbox.
@Suite("Sockets of sandboxes")
struct SandboxTests {
    private static let box = Sandbox(engine: "bubblewrap", id: "box", rights: [.token])

    private func open(
        _ server: ServerBed, lifetime: Int64? = nil, _ change: (inout Sandbox) -> Void = { _ in }
    ) async throws -> (handle: String, path: String) {
        var sandbox = Self.box
        change(&sandbox)
        let opened = try await server.connect().call(OpenSandbox.self, .init(sandbox, lifetime: lifetime))
        return (opened.handle, opened.path)
    }

    private func token(_ path: String, _ app: String = "mail") async throws -> ErrorData? {
        try await LineClient.connect(to: path).refusal(of: AcquireTokenSilent.self, .of(app))?.data
    }

    private func mode(_ path: String) -> mode_t? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : nil
    }

    @Test("a client of a sandbox's socket is the sandbox, and uses its app without a question")
    func identity() async throws {
        try await ServerBed.runSignedIn { server in
            let (handle, path) = try await open(server) {
                $0.apps = ["mail"]
                $0.instance = "7"
            }
            #expect(path.contains("/sandboxes/\(handle)/") && handle.utf8.count == 16)
            #expect(mode(path) == 0o600 && mode(String(path.dropLast("/broker.sock".count))) == 0o700)
            let client = try await LineClient.connect(to: path)
            let caller = try #require(try await client.call(GetBrokerStatus.self, .init()).caller)
            #expect(caller.identity == CallerIdentity(tier: .sandboxed, id: "bubblewrap:box"))
            #expect(!caller.administers && caller.rights == [.token])
            #expect(try await client.call(AcquireTokenSilent.self, .of("mail")).fromCache)
            let callers = try await server.connect().call(ListCallers.self, .init()).callers
            let seen = try #require(callers.first { $0.identity.tier == .sandboxed })
            #expect(seen.facts["socketOf"] == "bubblewrap:box" && seen.facts["instance"] == "7")
            let listed = try await server.connect().call(ListSandboxes.self, .init()).sandboxes
            #expect(listed.map(\.handle) == [handle] && listed.first?.openedBy.id == "/test")
            #expect(listed.first?.sandbox.apps == ["mail"])
            let audited = try await server.connect().call(ListAudit.self, .init()).entries
            #expect(audited.first { $0.method == OpenSandbox.name }?.door == "socket")
            #expect(audited.first { $0.outcome == "cached" }?.door == "sandbox")
        }
    }

    @Test("a socket for any uid is reachable with its folder only")
    func anyUID() async throws {
        try await ServerBed.runSignedIn { server in
            let (_, path) = try await open(server) {
                $0.apps = ["mail"]
                $0.acceptsAnyUID = true
            }
            let folder = String(path.dropLast("/broker.sock".count))
            let all = folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]
            #expect(mode(path) == 0o666 && mode(folder) == 0o755 && mode(String(all)) == 0o700)
            #expect(try await token(path) == nil)
            #expect(try await server.connect().call(ListSandboxes.self, .init()).sandboxes[0].sandbox.acceptsAnyUID)
            // None is made if others could reach the sockets through the parent folder.
            #expect(chmod(String(all), 0o711) == 0)
            var sandbox = Self.box
            sandbox.acceptsAnyUID = true
            let refusal = try await server.connect().refusal(of: OpenSandbox.self, .init(sandbox))
            #expect(refusal?.data?.kind == .unsupported && refusal?.message.contains("other users") == true)
        }
    }

    @Test("no socket is made if others could replace a sandbox's folder with theirs")
    func foreignFolder() async throws {
        try await ServerBed.run { server in
            let all = String(server.path.dropLast("broker.sock".count)) + "sandboxes"
            #expect(mkdir(all, 0o777) == 0 && chmod(all, 0o777) == 0)
            let refusal = try await server.connect().refusal(of: OpenSandbox.self, .init(Self.box))
            #expect(refusal?.data?.kind == .unsupported && refusal?.message.contains("other users") == true)
            #expect(rmdir(all) == 0)
        }
    }

    @Test("a sandbox without apps needs grants like any other, and an advance grant is for its name")
    func grants() async throws {
        try await ServerBed.runSignedIn { server in
            let (_, path) = try await open(server)
            let error = try await token(path)
            #expect(error?.kind == .grantRequired && error?.caller == "bubblewrap:box")
            var params = ApproveGrant.Params()
            (params.caller, params.app) = (CallerIdentity(tier: .sandboxed, id: "bubblewrap:box"), "mail")
            let grant = try await server.connect().call(ApproveGrant.self, params).grant
            #expect(grant.expiresOn == nil)
            #expect(try await token(path) == nil)
            // The name counts: another socket of it has the grant, another name has not.
            #expect(try await token(try await open(server).path) == nil)
            #expect(try await token(try await open(server) { $0.id = "other" }.path)?.kind == .grantRequired)
        }
    }

    @Test("an app that lists the sandbox's name accepts the sandbox")
    func listed() async throws {
        try await ServerBed.run { server in
            try await server.register("ci")
            try await server.signIn("ann", to: "ci")
            var params = RegisterApp.Params(
                name: "ci", clientId: "client-of-ci", authority: ServerBed.authority)
            params.description.sandboxIDs = ["bubblewrap:box"]
            _ = try await server.connect().call(RegisterApp.self, params)
            #expect(try await token(try await open(server).path, "ci") == nil)
            let other = try await open(server) { $0.engine = "podman" }.path
            #expect(try await token(other, "ci")?.kind == .grantRequired)
        }
    }

    @Test("other apps than its own are refused, without revealing whether they exist")
    func otherApps() async throws {
        try await ServerBed.runSignedIn { server in
            try await server.register("bank")
            let (_, path) = try await open(server) { $0.apps = ["mail"] }
            for app in ["bank", "nobody"] {
                let error = try await token(path, app)
                #expect(error?.kind == .accessDenied && error?.reason == .callerNotListed && error?.app == nil)
            }
            let adHoc = AcquireTokenSilent.Params(
                .adHoc(clientID: "c", authority: ServerBed.authority), scopes: ["read"])
            let client = try await LineClient.connect(to: path)
            #expect(try await client.refusal(of: AcquireTokenSilent.self, adHoc)?.data?.kind == .accessDenied)
            #expect(try await client.refusal(of: ListApps.self, .init())?.data?.kind == .accessDenied)
            // A grant does not widen it, and only an existing app can be given.
            var params = ApproveGrant.Params()
            (params.caller, params.app) = (CallerIdentity(tier: .sandboxed, id: "bubblewrap:box"), "bank")
            _ = try await server.connect().call(ApproveGrant.self, params)
            #expect(try await token(path, "bank")?.kind == .accessDenied)
            var sandbox = Self.box
            sandbox.apps = ["nobody"]
            let refused = try await server.connect().refusal(of: OpenSandbox.self, .init(sandbox))
            #expect(refused?.data?.kind == .appNotFound)
        }
    }

    @Test("an app registered anew in another group was not given to the sandbox")
    func registeredAnew() async throws {
        try await ServerBed.runSignedIn { server in
            let (_, path) = try await open(server) { $0.apps = ["mail"] }
            #expect(try await token(path) == nil)
            try await server.register("mail", group: "other")
            #expect(try await token(path)?.kind == .grantRequired)
        }
    }

    @Test("a right that the socket was not opened with is refused, with the remedy")
    func rights() async throws {
        try await ServerBed.runSignedIn { server in
            let (_, path) = try await open(server) { $0.apps = ["mail"] }
            let client = try await LineClient.connect(to: path)
            let accounts = ListAccounts.Params(.registered("mail"))
            let error = try #require(try await client.refusal(of: ListAccounts.self, accounts))
            #expect(error.data?.kind == .accessDenied && error.message.contains("--right accounts"))
            let signIn = AcquireTokenInteractive.Params(.registered("mail"), scopes: ["read"])
            #expect(try await client.refusal(of: AcquireTokenInteractive.self, signIn)?.data?.kind == .accessDenied)
            let cancel = CancelInteraction.Params(interactionId: "i")
            #expect(try await client.refusal(of: CancelInteraction.self, cancel)?.data?.kind == .accessDenied)

            let wider = try await open(server) {
                $0.apps = ["mail"]
                $0.rights = [.accounts, .interactive]
            }.path
            let other = try await LineClient.connect(to: wider)
            #expect(try await other.call(ListAccounts.self, accounts).accounts.count == 1)
            #expect(try await other.refusal(of: CancelInteraction.self, cancel) == nil)
            #expect(try await token(wider)?.kind == .accessDenied)
        }
    }

    @Test("a sign-out page needs the right to open pages, as its address has an ID token")
    func signOutPage() async throws {
        try await ServerBed.runSignedIn { server in
            for (engine, cure) in [("bubblewrap", "run-in --right."), ("ssh", "brokerctl ssh --right interactive.")] {
                let path = try await open(server) {
                    ($0.engine, $0.apps, $0.rights) = (engine, ["mail"], [.token, .accounts])
                }.path
                var params = SignOutAccount.Params(.username("ann"))
                params.selection.app = "mail"
                params.fromBrowser = true
                let client = try await LineClient.connect(to: path)
                let error = try #require(try await client.refusal(of: SignOutAccount.self, params))
                #expect(error.data?.kind == .accessDenied && error.message.hasSuffix(cure), "\(error.message)")
                #expect(server.browser.opened.isEmpty)
                #expect(try await token(path) == nil, "the account is signed in")
            }
        }
    }

    @Test("a sandbox learns no folder of the person, and whether it is on another machine")
    func places() async throws {
        try await ServerBed.runSignedIn { server in
            let path = try await open(server) { $0.engine = "ssh" }.path
            let client = try await LineClient.connect(to: path)
            let status = try await client.call(GetBrokerStatus.self, .init())
            #expect(!status.vault.path.isEmpty && !status.vault.path.contains("/"))
            #expect(status.configuration == nil && status.doors == nil)
            #expect(try await server.connect().call(GetBrokerStatus.self, .init()).vault.path.hasPrefix("/"))
            let refusal = try #require(try await client.refusal(of: ListAudit.self, .init()))
            #expect(refusal.message.contains("on the machine that the broker runs on"), "\(refusal.message)")
        }
    }

    private static let administration: [String] = MethodRegistry.methods.filter {
        [.administration, .ownership].contains($0.permission)
    }.map { $0.name }

    @Test("a sandbox never administers and opens no socket, even with all rights and outside")
    func administration() async throws {
        try await ServerBed.run { server in
            let (_, path) = try await open(server) { $0.rights = SandboxRight.allCases }
            for method in Self.administration {
                let client = try await LineClient.connect(to: path)
                let error = try await client.refusal(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{}}"#)
                #expect(error.data?.kind == .accessDenied && error.data?.caller == "bubblewrap:box", "\(method)")
            }
            // Without an app it would be about all of the person's apps.
            let client = try await LineClient.connect(to: path)
            #expect(try await client.refusal(of: ListAccounts.self, .init())?.data?.kind == .accessDenied)
        }
    }

    @Test("a caller known to be in another sandbox gains nothing from this one's socket")
    func borrowed() async throws {
        try await ServerBed.runSignedIn { server in
            let (_, path) = try await open(server) { $0.apps = ["mail"] }
            let own = try await open(server) {
                ($0.engine, $0.id, $0.apps) = ("flatpak", "org.example.Game", ["mail"])
            }.path
            server.inspector.enter("org.example.Game")
            let client = try await LineClient.connect(to: path)
            let caller = try #require(try await client.call(GetBrokerStatus.self, .init()).caller)
            #expect(caller.identity.id == "flatpak:org.example.Game" && !caller.administers)
            #expect(try await token(path)?.kind == .grantRequired)
            #expect(try await token(own) == nil)
        }
    }

    @Test("closing a sandbox's socket ends its connections at once")
    func closed() async throws {
        try await ServerBed.runSignedIn { server in
            let (handle, path) = try await open(server) { $0.apps = ["mail"] }
            let other = try await open(server)
            let holding = try await LineClient.connect(to: path)
            _ = try await holding.call(GetBrokerStatus.self, .init())
            // A request that waits for the provider ends, too.
            let waiting = try await LineClient.connect(to: path)
            var forced = AcquireTokenSilent.Params.of("mail")
            forced.forceRefresh = true
            server.provider.refreshGate.close()
            try await waiting.send(AcquireTokenSilent.requestLine(id: 1, forced))
            _ = try await waiting.call(GetBrokerStatus.self, .init())
            _ = try await server.connect().call(CloseSandbox.self, .init(handle: handle))
            #expect(try await holding.readLine() == nil)
            #expect(try await waiting.readLine() == nil)
            #expect(mode(path) == nil && mode(String(path.dropLast("/broker.sock".count))) == nil)
            await #expect(throws: LineClient.Failure.self) { try await LineClient.connect(to: path) }
            let again = try await server.connect().refusal(of: CloseSandbox.self, .init(handle: handle))
            #expect(again?.data?.kind == .invalidParameter)
            // Others, and the common socket, continue.
            #expect(try await token(other.path)?.kind == .grantRequired)
            #expect(try await server.connect().call(ListSandboxes.self, .init()).sandboxes.count == 1)
        }
    }

    @Test("a sandbox's socket is removed at the end of its lifetime")
    func lifetime() async throws {
        try await ServerBed.run { server in
            let (_, path) = try await open(server, lifetime: 60)
            let listed = try await server.connect().call(ListSandboxes.self, .init()).sandboxes
            #expect(listed.first?.expiresOn == server.clock.now + 60)
            let holding = try await LineClient.connect(to: path)
            _ = try await holding.call(GetBrokerStatus.self, .init())
            try await eventually("the lifetime is waited for") { server.clock.sleepers > 0 }
            server.clock.advance(bySeconds: 60)
            #expect(try await holding.readLine() == nil)
            try await eventually("the socket is gone") { mode(path) == nil }
        }
    }

    @Test("a socket bound to its connection ends with that one only, and its folder goes, too")
    func whileConnected() async throws {
        try await ServerBed.run { server in
            let (opener, other) = (try await server.connect(), try await server.connect())
            let bound = try await opener.call(OpenSandbox.self, .init(Self.box, isWhileConnected: true))
            let closed = try await opener.call(OpenSandbox.self, .init(Self.box, isWhileConnected: true))
            let free = try await opener.call(OpenSandbox.self, .init(Self.box))
            let inside = try await LineClient.connect(to: bound.path)
            _ = try await inside.call(GetBrokerStatus.self, .init())
            _ = try await other.call(CloseSandbox.self, .init(handle: closed.handle))
            await other.close()
            #expect(try await server.connect().call(ListSandboxes.self, .init()).sandboxes.count == 2)
            await opener.close()
            #expect(try await inside.readLine() == nil)
            try await eventually("the folder is gone") {
                mode(String(bound.path.dropLast("/broker.sock".count))) == nil
            }
            let left = try await server.connect().call(ListSandboxes.self, .init()).sandboxes
            #expect(left.map(\.handle) == [free.handle])
        }
    }

    @Test("a person's sandboxes have at most 64 sockets, and closing one makes room")
    func bound() async throws {
        try await ServerBed.run { server in
            let first = try await open(server)
            for _ in 1..<SandboxSockets.most { _ = try await open(server) }
            let refused = try await server.connect().refusal(of: OpenSandbox.self, .init(Self.box))
            #expect(refused?.data?.kind == .throttled)
            _ = try await server.connect().call(CloseSandbox.self, .init(handle: first.handle))
            _ = try await open(server)
        }
    }

    @Test("a sandbox has its share of connections, regardless of its sockets, and takes no one else's")
    func flood() async throws {
        try await ServerBed.run { server in
            let paths = [try await open(server).path, try await open(server).path]
            var held: [LineClient] = []
            for number in 0..<32 {
                held.append(try await LineClient.connect(to: paths[number % 2]))
                _ = try await held.last?.call(GetBrokerStatus.self, .init())
            }
            for path in paths {
                let line = try await LineClient.connect(to: path).readJSON()
                let error = try RPCError(reading: try #require(line["error"]))
                #expect(error.data?.reason == .tooManyConnections)
            }
            let other = try await open(server) { $0.id = "other" }.path
            _ = try await LineClient.connect(to: other).call(GetBrokerStatus.self, .init())
            #expect(try await server.connect().call(GetBrokerStatus.self, .init()).connections >= 33)
        }
    }

    @Test(
        "a name that could be taken for another is refused",
        arguments: [
            ("container", "x"), ("Podman", "x"), ("a:b", "x"), ("", "x"), ("podman", ""), ("podman", "a b"),
            ("podman", "a\u{7}"), (String(repeating: "a", count: 33), "x"),
        ])
    func names(engine: String, id: String) async throws {
        try await ServerBed.run { server in
            let sandbox = Sandbox(engine: engine, id: id, rights: [.token])
            let error = try await server.connect().refusal(of: OpenSandbox.self, .init(sandbox))
            #expect(error?.code == -32602)
        }
    }
}
