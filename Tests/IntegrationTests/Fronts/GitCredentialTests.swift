import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("git, its server, and the broker as its credential helper")
struct GitCredentialTests {
    @Test("a repository is cloned and two megabytes are pushed without prompts")
    func cloneAndPush() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.configure()
            try await git.scene.signIn()
            let (cloned, folder) = try await git.clone()
            #expect(cloned.succeeded, "\(cloned)")
            var random = SystemRandomNumberGenerator()
            let data = Data((0..<2_000_000).map { _ in UInt8.random(in: 0...255, using: &random) })
            try data.write(to: URL(filePath: "\(folder)/data"))
            for arguments in [
                ["add", "data"], ["commit", "--quiet", "-m", "Data"], ["push", "--quiet", "origin", "main"],
            ] {
                let result = try await git.git(arguments, in: folder)
                #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(arguments): \(result)")
            }
            let (again, copy) = try await git.clone()
            #expect(again.succeeded, "\(again)")
            #expect(try Data(contentsOf: URL(filePath: "\(copy)/data")) == data)
            #expect(git.requests.contains { $0.hasPrefix("200 POST /work.git/git-receive-pack oauth2") })
            #expect(git.scene.provider.refreshes == 0)
        }
    }

    @Test("a token that the server refused is replaced once, so git fails and works the next time")
    func refused() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.configure()
            try await git.scene.signIn()
            git.scene.provider.expire(.accessTokens)
            let first = try await git.git(["ls-remote", git.url])
            #expect(first.status == .exited(128), "\(first)")
            #expect(git.scene.provider.refreshes == 1)
            let second = try await git.git(["ls-remote", git.url])
            #expect(second.succeeded, "\(second)")
            #expect(git.scene.provider.refreshes == 1)
        }
    }

    @Test("many fetches that are refused at the same time cause one refresh")
    func parallel() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.configure()
            try await git.scene.signIn()
            git.scene.provider.expire(.accessTokens)
            for expected: Int32? in [nil, 0] {
                try await withThrowingTaskGroup(of: CommandResult.self) { group in
                    for _ in 0..<6 { group.addTask { try await git.git(["ls-remote", git.url]) } }
                    for try await result in group {
                        // In the first round some may arrive after the refresh.
                        #expect(expected == nil || result.status == .exited(0), "\(result)")
                    }
                }
            }
            #expect(git.scene.provider.refreshes == 1)
        }
    }

    @Test("without a sign-in git stops, and shows the command for it instead of asking for a password")
    func nobody() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.configure()
            let (result, _) = try await git.clone()
            #expect(result.status == .exited(128))
            #expect(result.errors.contains("brokerctl login --app notes"), "\(result)")
            #expect(result.errors.contains("told us to quit"), "\(result)")
        }
    }

    @Test("a name in the URL selects one of two accounts, without one git stops and lists both")
    func twoAccounts() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.configure()
            try await git.scene.signIn(.alice)
            try await git.scene.signIn(.bob)
            let unclear = try await git.clone().result
            #expect(unclear.status == .exited(128))
            for name in ["alice", "bob", "--account"] { #expect(unclear.errors.contains(name), "\(unclear)") }
            let url = "http://bob@\(git.host)/\(GitScene.repository)"
            let clear = try await git.clone(url).result
            #expect(clear.succeeded, "\(clear)")
            #expect(git.requests.contains { $0.hasSuffix(" bob") && $0.hasPrefix("200") })
        }
    }

    @Test("a host outside the helper's list gets nothing, and git continues without it")
    func otherHost() async throws {
        try await withTestBed { bed in
            let git = try await GitScene.make(in: bed)
            try await git.scene.signIn()
            try await git.configure(" --host git.example.org")
            let result = try await git.clone().result
            #expect(result.status == .exited(128))
            #expect(result.errors.contains("could not read Username"), "\(result)")
            #expect(!git.requests.contains { $0.contains("oauth2") })
        }
    }

    @Test("a recent git sends the token in the header that the server requests (protocol of version 2.47)")
    func bearer() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let token = try await scene.signIn().accessToken
            let asked = """
                capability[]=authtype
                capability[]=state
                protocol=https
                host=git.example.org
                wwwauth[]=Bearer realm="r"

                """
            let helper = ["git-credential", "--app", "notes"]
            let given = try await scene.broker.ctl(helper + ["get"], input: asked)
            let lines = given.output.split(separator: "\n")
            #expect(
                lines.prefix(4) == ["capability[]=authtype", "authtype=Bearer", "credential=\(token)", "ephemeral=1"])
            #expect(lines.last?.hasPrefix("password_expiry_utc=") == true && lines.count == 5)
            // Git's following output needs no answer.
            for action in ["store", "capability", "later"] {
                let result = try await scene.broker.ctl(helper + [action], input: asked + "credential=\(token)\n")
                #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
            }
            let erased = try await scene.broker.ctl(helper + ["erase"], input: asked + "credential=\(token)\n")
            #expect(erased.succeeded && erased.output.isEmpty, "\(erased)")
            #expect(scene.provider.refreshes == 1)
            #expect(try await scene.silent().text("accessToken") != token)
        }
    }
}
