import BrokerModel
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Foundation
import Synchronization
import Testing

/// The person, whose answers the test sets; polkit itself asks in `SystemdTests`.
private final class Person: PresenceAuthority {
    private let answer: Mutex<PresenceAnswer>
    private let asked = Mutex<[PresenceQuestion]>([])

    init(_ answer: PresenceAnswer) { self.answer = Mutex(answer) }

    /// Their methods.
    var questions: [String] { asked.withLock { $0.map(\.method) } }
    var last: PresenceQuestion? { asked.withLock(\.last) }

    func will(_ new: PresenceAnswer) { answer.withLock { $0 = new } }

    func ask(_ question: PresenceQuestion, process: Int32, uid: UInt32) async -> PresenceAnswer {
        let isOurs = process == getpid() && uid == getuid()
        asked.withLock { $0.append(isOurs ? question : PresenceQuestion("for another process")) }
        return answer.withLock { $0 }
    }
}

@Suite("Administration that needs the person")
struct PresenceTests {
    private static func secretApp() -> RegisterApp.Params {
        var params = RegisterApp.Params(name: "web", clientId: "c", authority: ServerBed.authority)
        params.clientSecret = "s3cret"
        return params
    }

    private static func approval() -> ApproveGrant.Params {
        var params = ApproveGrant.Params()
        (params.caller, params.app) = (CallerIdentity(tier: .sandboxed, id: "box:one"), "web")
        return params
    }

    private static func box(for apps: [String]?) -> Sandbox {
        var box = Sandbox(engine: "podman", id: "build", rights: [.token])
        box.apps = apps
        return box
    }

    @Test("the most important methods ask the person each time by method, and the others do not")
    func asks() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            let client = try await server.connect()
            _ = try await client.call(RegisterApp.self, Self.secretApp())
            _ = try await client.call(ApproveGrant.self, Self.approval())
            _ = try await client.call(ExportCache.self, .init(passphrase: "long enough"))
            _ = try await client.call(SetKeySource.self, .init(source: "passphrase", passphrase: "long enough"))
            _ = try await client.call(OpenSandbox.self, .init(Self.box(for: ["web"])))
            let part = try await client.call(ImportCachePart.self, .init(transfer: nil, data: "AAAA"))
            // The requests themselves fail afterwards.
            _ = try await client.refusal(
                of: RegisterAppAtProvider.self, .init(name: "made", authority: "http://login.example"))
            _ = try await client.call(AcceptRestore.self, .init())
            let all = [
                "apps.register", "grants.approve", "cache.export", "keys.setSource", "sandboxes.open",
                "cache.importPart", "apps.registerAtProvider", "cache.acceptRestore", "sandboxes.open",
            ]
            _ = try await client.call(OpenSandbox.self, .init(Self.box(for: nil)))
            #expect(person.questions == all)
            _ = try await client.refusal(
                of: ImportBackup.self, .init(transfer: part.transfer, passphrase: "long enough"))
            _ = try await client.call(ListGrants.self, .init())
            _ = try await client.call(RotateKey.self, .init())
            _ = try await client.call(RemoveApp.self, .init(name: "web"))
            #expect(person.questions == all)
        }
    }

    @Test("a refusal or absence of the person stops the request with an error that says so")
    func refuses() async throws {
        let person = Person(.notShown)
        try await ServerBed.run(presence: person) { server in
            let client = try await server.connect()
            for (answer, kind, word) in [
                (.notShown, .userCanceled, "nothing was changed"), (.nobodyAsks, .accessDenied, "pkttyagent"),
                (.unavailable("no bus"), .accessDenied, "no bus"),
            ] as [(PresenceAnswer, ErrorKind, String)] {
                person.will(answer)
                let refusal = try await client.refusal(of: RegisterApp.self, Self.secretApp())
                #expect(refusal?.data?.kind == kind && refusal?.message.contains(word) == true, "\(refusal as Any)")
                #expect((refusal?.data?.reason == .presenceRequired) == (kind == .accessDenied))
            }
            #expect(try await client.call(ListApps.self, .init()).apps.isEmpty)
        }
    }

    @Test("nobody is asked for a change that a locked broker refuses")
    func locked() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            let client = try await server.connect()
            _ = try await client.call(LockBroker.self, .init())
            let before = person.questions
            #expect(try await client.refusal(of: RegisterApp.self, Self.secretApp())?.data?.kind == .locked)
            #expect(person.questions == before)
        }
    }

    @Test(
        "changes equivalent to an approval need the person: an app's list, replacement or sandbox"
    )
    func otherWays() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            var listed = RegisterApp.Params(name: "web", clientId: "c", authority: ServerBed.authority)
            listed.description.executables = ["/usr/bin/web"]
            let client = try await server.connect()
            _ = try await client.call(RegisterApp.self, listed)
            person.will(.notShown)
            var (widened, open, sibling) = (listed, listed, listed)
            widened.description.executables.append("/test")
            widened.keepClientSecret = true
            open.description.executables = []
            (sibling.description.name, sibling.replace, sibling.description.group) = ("other", false, "web")
            for params in [widened, open, sibling] {
                #expect(try await client.refusal(of: RegisterApp.self, params)?.data?.kind == .userCanceled)
            }
            let sandbox = OpenSandbox.Params(Self.box(for: ["web"]))
            #expect(try await client.refusal(of: OpenSandbox.self, sandbox)?.data?.kind == .userCanceled)
            let apps = try await client.call(ListApps.self, .init()).apps
            #expect(apps.map(\.name) == ["web"] && apps.first?.description.executables == ["/usr/bin/web"])
            #expect(try await client.call(ListSandboxes.self, .init()).sandboxes.isEmpty)
        }
    }

    @Test("a sandbox's socket needs the person, who reads which apps its name may use already")
    func namesWithRights() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            var listed = RegisterApp.Params(name: "web", clientId: "c", authority: ServerBed.authority)
            listed.description.sandboxIDs = ["podman:build", "org.example.Mail"]
            let client = try await server.connect()
            _ = try await client.call(RegisterApp.self, listed)
            _ = try await client.call(ApproveGrant.self, Self.approval())
            person.will(.notShown)
            for (engine, id, apps) in [
                ("podman", "build", ["web"]), ("box", "one", ["web"]), ("flatpak", "org.example.Mail", ["web"]),
                ("box", "three", []), ("flatpak", "org.example.Game", []),
            ] {
                let open = OpenSandbox.Params(Sandbox(engine: engine, id: id, rights: [.token]))
                #expect(try await client.refusal(of: OpenSandbox.self, open)?.data?.kind == .userCanceled, "\(engine)")
                #expect(person.last == PresenceQuestion("sandboxes.open", caller: "\(engine):\(id)", apps: apps))
            }
            #expect(try await client.call(ListSandboxes.self, .init()).sandboxes.isEmpty)
        }
    }

    @Test("a socket that was opened before its name had a grant was confirmed, too")
    func openedEarly() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            let client = try await server.connect()
            _ = try await client.call(RegisterApp.self, Self.secretApp())
            person.will(.notShown)
            let early = OpenSandbox.Params(Sandbox(engine: "box", id: "one", rights: [.token]))
            #expect(try await client.refusal(of: OpenSandbox.self, early)?.data?.kind == .userCanceled)
            person.will(.shown)
            let opened = try await client.call(OpenSandbox.self, early)
            _ = try await client.call(ApproveGrant.self, Self.approval())
            let inside = try await LineClient.connect(to: opened.path)
            let refusal = try await inside.refusal(of: AcquireTokenSilent.self, .of("web"))
            #expect(refusal?.data?.reason == .noTokens)
            #expect(person.questions == ["apps.register", "sandboxes.open", "sandboxes.open", "grants.approve"])
        }
    }

    @Test("the question names the new caller and the app, and each request asks anew")
    func whatIsAsked() async throws {
        let person = Person(.shown)
        try await ServerBed.run(presence: person) { server in
            let client = try await server.connect()
            _ = try await client.call(RegisterApp.self, Self.secretApp())
            #expect(person.last == PresenceQuestion("apps.register", apps: ["web"]))
            var approval = Self.approval()
            approval.caller = CallerIdentity(tier: .sandboxed, id: "org.example.Mail")
            for _ in 0..<2 { _ = try await client.call(ApproveGrant.self, approval) }
            let mail = PresenceQuestion("grants.approve", caller: "flatpak:org.example.Mail", apps: ["web"])
            #expect(person.last == mail && person.questions.filter { $0 == "grants.approve" }.count == 2)
            server.inspector.enter("org.example.Game")
            let ask = AcquireTokenSilent.Params.of("web")
            let refusal = try await server.connect().refusal(of: AcquireTokenSilent.self, ask)
            server.inspector.enter(nil)
            var answer = ApproveGrant.Params()
            answer.request = try #require(refusal?.data?.grantRequest)
            _ = try await client.call(ApproveGrant.self, answer)
            let game = PresenceQuestion("grants.approve", caller: "flatpak:org.example.Game", apps: ["web"])
            #expect(person.last == game)
        }
    }

    @Test("a caller without the right to administer is refused before any question")
    func sandboxed() async throws {
        let person = Person(.shown)
        try await ServerBed.run(inspector: PlainInspector(sandboxID: "org.example.Game"), presence: person) { server in
            let refusal = try await server.connect().refusal(of: RegisterApp.self, Self.secretApp())
            #expect(refusal?.data?.kind == .accessDenied && person.questions.isEmpty)
        }
    }

    @Test("polkit's file has an action for each of these methods, and no other")
    func policyFile() throws {
        let text = try PackageTree.text("systemd/token-broker.policy")
        let actions = text.matches(of: #/<action id="token-broker\.([^"]+)">/#).map { String($0.output.1) }
        #expect(
            actions.sorted() == [
                "apps.register", "apps.registeratprovider", "cache.acceptrestore", "cache.export", "cache.importpart",
                "grants.approve",
                "keys.setsource", "sandboxes.open",
            ])
    }
}
