import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A broker for every user of the machine, under a separate account without privileges.
struct SystemScene {
    static let account: UInt32 = 12_990

    let provider: RunningProvider
    var broker: BrokerProcess
    let bed: TestBed

    /// Files that the broker sees in place of its own, by the path of these.
    private let files: [String: String]

    /// - Parameters:
    ///   - accounts: a file that the broker sees in place of /etc/passwd.
    ///   - subordinates: a file that the broker sees in place of /etc/subuid.
    static func make(
        in bed: TestBed, configuration: String? = nil, accounts: String? = nil, subordinates: String? = nil
    ) async throws -> SystemScene {
        try Prerequisite.root.require()
        let provider = try await DevelopmentScene.startProvider(in: bed)
        let files = ["/etc/passwd": accounts, "/etc/subuid": subordinates].compactMapValues(\.self)
        return SystemScene(
            provider: provider,
            broker: try await start(in: bed, configuration: configuration, files: files), bed: bed, files: files)
    }

    private static func start(
        in bed: TestBed, configuration: String? = nil, stateDirectory: String? = nil, files: [String: String]
    ) async throws -> BrokerProcess {
        let program = try bed.sharedProgram("brokerd")
        return try await BrokerProcess.start(in: bed) { options in
            // systemd prepares the folders; here it is a line of shell.
            let prepare = """
                chown \(account):\(account) "$(dirname "$3")" "$5"; chmod 755 "$(dirname "$3")"
                [ "$7" != --config ] || chmod 755 "$(dirname "$8")"
                exec setpriv --reuid=\(account) --regid=\(account) --clear-groups -- "$@"
                """
            let namespace = ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c"]
            let mounts = files.map { "mount --bind \($0.value) \($0.key) && " }.joined()
            let mounting = files.isEmpty ? [] : namespace + ["\(mounts)exec \"$@\"", "sh"]
            options.program = program
            options.wrapper = mounting + ["/bin/sh", "-c", prepare, "sh"]
            options.arguments = ["--system"]
            options.configuration = configuration
            options.stateDirectory = stateDirectory
        }
    }

    /// A broker on state that already belongs to its account.
    static func open(_ stateDirectory: String, in bed: TestBed) async throws -> BrokerProcess {
        try await start(in: bed, stateDirectory: stateDirectory, files: [:])
    }

    /// Stops the broker and starts one on the same state.
    mutating func restart() async throws {
        await broker.stop()
        broker = try await Self.start(in: bed, stateDirectory: broker.stateDirectory, files: files)
    }

    func user(_ uid: UInt32) throws -> OtherUser { try OtherUser.connect(uid, to: broker.socket, in: bed) }

    /// A connection of another user who has registered the app `notes`.
    func member(_ uid: UInt32) async throws -> OtherUser {
        let user = try user(uid)
        let answer = try await user.ask(
            "apps.register",
            ["name": "notes", "clientId": "demo-one", "authority": .string(provider.issuer)])
        #expect(answer["result"] != nil, "\(answer)")
        return user
    }

    /// Begins a sign-in; the person consents at the provider.
    ///
    /// - Returns: the interaction, and the provider's redirect for the browser.
    func begin(_ user: OtherUser, _ person: Person, id: String) async throws -> (
        interaction: JSONValue, redirect: String
    ) {
        try user.send("token.acquireInteractive", DevelopmentScene.notes, id: id)
        let opening = try await user.message("a page to open") { $0["method"] == "interaction.open" }
        let redirect = try await provider.signIn(person, at: opening.text("params.url"), in: bed)
        return (opening[path: "params.interactionId"], redirect.url)
    }

    @discardableResult
    func signIn(_ user: OtherUser, _ person: Person) async throws -> JSONObject {
        let id = UUID().uuidString
        let sent = try await begin(user, person, id: id)
        try await user.ask("interaction.complete", ["url": .string(sent.redirect)])
        return try await user.answer(to: id)
    }
}
