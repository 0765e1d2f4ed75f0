import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("One broker for many users", .needsRoot) struct MultiUserServicesTests {
    private let alice: UInt32 = 12_001
    private let bob: UInt32 = 12_002

    @Test("two users sign in to apps of the same name, and each has their own data, also after a restart")
    func together() async throws {
        try await withTestBed { bed in
            var scene = try await SystemScene.make(in: bed)
            var (one, two) = (try await scene.member(alice), try await scene.member(bob))
            for user in [one, two] {
                #expect(
                    try await user.ask("broker.subscribe", ["topics": ["account", "token", "interaction", "grant"]])[
                        "result"] != nil)
            }
            let watcher = try scene.user(12_003)
            _ = try await watcher.ask("broker.subscribe", ["topics": ["account", "token", "interaction", "grant"]])
            let first = try await scene.begin(one, .alice, id: "first")
            let second = try await scene.begin(two, .bob, id: "second")

            // One user's data is unknown to the other.
            let foreign = try await two.ask("interaction.complete", ["url": .string(first.redirect)])
            #expect(foreign[path: "error.data.kind"] == "invalidParameter", "\(foreign)")
            let cancel = try await two.ask("interaction.cancel", ["interactionId": first.interaction])
            #expect(cancel[path: "result.cancelled"] == false)
            #expect(
                try await scene.broker.call("interaction.cancel", ["interactionId": first.interaction])["cancelled"]
                    == false)

            _ = try await two.ask("interaction.complete", ["url": .string(second.redirect)])
            _ = try await one.ask("interaction.complete", ["url": .string(first.redirect)])
            let tokens = (try await one.answer(to: "first"), try await two.answer(to: "second"))
            #expect(tokens.0.text("result.account.username").hasPrefix("alice"), "\(tokens.0)")
            #expect(tokens.1.text("result.account.username").hasPrefix("bob"), "\(tokens.1)")

            let account: JSONObject = ["id": .string(tokens.0.text("result.account.id"))]
            let stolen = try await two.ask(
                "token.acquireSilent", DevelopmentScene.notes.merging(["account": .object(account)]) { $1 })
            #expect(stolen[path: "error.data.kind"] == "accountNotFound", "\(stolen)")
            #expect(try await two.ask("accounts.get", ["account": .object(account)])[path: "result.account"] == .null)

            try await scene.restart()
            (one, two) = (try scene.user(alice), try scene.user(bob))
            for (user, name) in [(one, "alice"), (two, "bob")] {
                let accounts = try await user.ask("accounts.list")[path: "result.accounts"].arrayValue ?? []
                #expect(accounts.count == 1 && accounts[0]["username"].stringValue?.hasPrefix(name) == true)
                let token = try await user.ask("token.acquireSilent", DevelopmentScene.notes)
                #expect(token[path: "result.fromCache"] == true, "\(token)")
            }
            // No user got another user's events.
            #expect(watcher.messages.allSatisfy { $0["method"] == nil })
        }
    }

    @Test("root sees counts, and no app, account, token, grant or log of others")
    func root() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let one = try await scene.member(alice)
            try await scene.signIn(one, .alice)
            let broker = scene.broker
            #expect(try await broker.call("apps.list")["apps"] == [])
            #expect(try await broker.call("accounts.list")["accounts"] == [])
            #expect(try await broker.call("grants.list")["grants"] == [])
            #expect(try await broker.call("audit.list")["entries"] == [])
            // Each call is a connection, and the one before may end a moment later.
            try await eventually("root sees itself alone") {
                try await broker.call("broker.callers")[path: "callers"].arrayValue?.count == 1
            }
            await #expect { try await broker.call("token.acquireSilent", DevelopmentScene.notes) } throws: {
                ($0 as? Refusal)?.kind == "appNotFound"
            }
            let status = try await broker.call("broker.status")
            #expect(status["mode"] == "system")
            #expect((status[path: "vault.records"].integerValue ?? 0) > 1)
            try await eventually("root sees its own connection and alice's") {
                try await broker.call("broker.status")["connections"] == 2
            }
            let other = try await scene.user(bob).ask("broker.status")
            #expect(other[path: "result.vault.records"] == 0 && other[path: "result.connections"] == 1)
        }
    }

    @Test("only root may use the shared lock and keys")
    func rootOnly() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let one = try await scene.member(alice)
            for (method, params) in [
                ("broker.lock", [:]), ("broker.unlock", [:]), ("keys.rotate", [:]), ("broker.metrics", [:]),
                ("keys.setSource", ["source": "passphrase", "passphrase": "mine"]),
            ] as [(String, JSONObject)] {
                #expect(try await one.ask(method, params)[path: "error.data.reason"] == "notRoot", "\(method)")
            }
            #expect(try await one.ask("apps.list")["result"] != nil)
            #expect(try await scene.broker.call("broker.lock")["locked"] == true)
            let locked = try await one.ask("apps.list")
            #expect(locked[path: "error.data.kind"] == "locked")
            // They may not run root's commands.
            #expect(locked.text("error.message").contains("only root may unlock it"), "\(locked)")
            await #expect { try await scene.broker.call("apps.list") } throws: {
                ($0 as? Refusal)?.message.contains("unlock it with brokerctl unlock") == true
            }
            #expect(try await scene.broker.call("broker.unlock")["locked"] == false)
            #expect(try await one.ask("apps.list")["result"] != nil)
        }
    }

    @Test("it opens no browser, and accepts no user's own client")
    func defaults() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "access.ask_in_browser = true\n")
            let one = try await scene.member(alice)
            let window = try await one.ask(
                "token.acquireInteractive", DevelopmentScene.notes.merging(["presentation": "broker"]) { $1 })
            #expect(window[path: "error.data.kind"] == "unsupported", "\(window)")
            let adHoc = try await one.ask(
                "token.acquireSilent",
                ["clientId": "demo-one", "authority": .string(scene.provider.issuer), "scopes": ["notes.read"]])
            #expect(adHoc[path: "error.data.reason"] == "adHocForbidden", "\(adHoc)")
        }
    }

    @Test("a user with all of their connections occupies none of another's")
    func greedy() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed, configuration: "[socket]\nmax_connections = 16\n")
            var held: [OtherUser] = []
            for _ in 0..<2 {
                held.append(try scene.user(alice))
                // A listener is never idle, so it is never evicted.
                let listening = try await held[held.count - 1].ask("broker.subscribe", ["topics": ["account"]])
                #expect(listening["result"] != nil, "\(listening)")
            }
            let refused = try await scene.user(alice).refusal()
            #expect(refused[path: "error.data.reason"] == "tooManyConnections", "\(refused)")
            #expect(refused.text("error.message").contains("your user"))
            #expect(try await scene.user(bob).ask("broker.status")[path: "result.connections"] == 1)
        }
    }

    @Test(
        "root lists the owners of records and removes one's, without loss to others, who may begin anew")
    func removal() async throws {
        try await withTestBed { bed in
            var scene = try await SystemScene.make(in: bed)
            let (one, two) = (try await scene.member(alice), try await scene.member(bob))
            try await scene.signIn(one, .alice)
            try await scene.signIn(two, .bob)
            #expect(try await one.ask("partitions.list")[path: "error.data.reason"] == "notRoot")
            #expect(
                try await one.ask("partitions.remove", ["uid": .integer(Int64(bob))])[path: "error.data.reason"]
                    == "notRoot")

            let before = try await scene.broker.call("broker.status")["partitions"]?.integerValue ?? 0
            let listed = try await scene.broker.call("partitions.list")[path: "partitions"].arrayValue ?? []
            let uids = listed.map { $0["uid"].integerValue }
            #expect(!uids.contains(Int64(SystemScene.account)), "the broker itself is nobody")
            #expect(uids.contains(Int64(alice)) && uids.contains(Int64(bob)) && Int64(listed.count) == before)
            for partition in listed {
                #expect((partition["bytes"].integerValue ?? 0) > 0 && (partition["lastUsedOn"].integerValue ?? 0) > 0)
            }
            let missing = try? await scene.broker.call("partitions.remove", ["uid": 12_999])
            #expect(missing == nil)

            let waiting = try await scene.begin(one, .alice, id: "waits")
            #expect(try await scene.broker.call("partitions.remove", ["uid": .integer(Int64(alice))])["removed"] != 0)
            #expect(try await one.answer(to: "waits")[path: "error.data.kind"] == "userCanceled")
            let late = try await one.ask("interaction.complete", ["url": .string(waiting.redirect)])
            #expect(late["error"] != nil)
            #expect(try await one.ask("apps.list")[path: "result.apps"] == [])
            #expect(try await one.ask("accounts.list")[path: "result.accounts"] == [])
            let gone = try await one.ask("token.acquireSilent", DevelopmentScene.notes)
            #expect(gone[path: "error.data.kind"] == "appNotFound", "\(gone)")
            #expect(try await two.ask("token.acquireSilent", DevelopmentScene.notes)[path: "result.fromCache"] == true)

            try await scene.restart()
            let again = try await scene.member(alice)
            #expect(try await again.ask("accounts.list")[path: "result.accounts"] == [])
            try await scene.signIn(again, .alice)
            let other = try scene.user(bob)
            let answer = try await other.ask("token.acquireSilent", DevelopmentScene.notes)
            #expect(answer[path: "result.fromCache"] == true)
        }
    }

    @Test("removing a user closes the sockets of that user's sandboxes, because a container may outlive the user")
    func sandboxes() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let one = try await scene.member(alice)
            let opened = try await one.ask("sandboxes.open", ["engine": "podman", "id": "payroll", "apps": ["notes"]])
            let path = opened.text("result.path")
            let inside = try OtherUser.connect(alice, to: path, in: bed)
            let status = try await inside.ask("broker.status")
            #expect(status[path: "result.caller.id"] == "podman:payroll", "\(status)")

            _ = try await scene.broker.call("partitions.remove", ["uid": .integer(Int64(alice))])
            try #require(!FileManager.default.fileExists(atPath: path))
            await inside.ended()
            #expect(try await one.ask("sandboxes.list")[path: "result.sandboxes"] == [])
        }
    }

    @Test("an account that got the uid of another one is refused, until root has removed the other's records")
    func newAccount() async throws {
        try await withTestBed { bed in
            // The machine's own accounts are unchanged: the broker sees this file in place of /etc/passwd.
            let accounts = bed.path("passwd")
            func name(_ name: String) throws {
                let text = "root:x:0:0::/root:/bin/sh\n\(name):x:\(alice):\(alice)::/nonexistent:/bin/sh\n"
                try text.write(toFile: accounts, atomically: true, encoding: .utf8)
                #expect(chmod(accounts, 0o644) == 0)
            }
            try name("ada")
            var scene = try await SystemScene.make(in: bed, accounts: accounts)
            let one = try await scene.member(alice)
            try await scene.signIn(one, .alice)

            try name("eve")
            try await scene.restart()
            let new = try scene.user(alice)
            for (method, params) in [
                ("token.acquireSilent", DevelopmentScene.notes), ("accounts.list", [:]), ("audit.list", [:]),
                ("apps.list", [:]), ("broker.status", [:]),
                ("broker.subscribe", ["app": "notes", "topics": ["token"]]),
            ] as [(String, JSONObject)] {
                let refused = try await new.ask(method, params)
                #expect(refused[path: "error.data.reason"] == "otherAccount", "\(method): \(refused)")
                #expect(refused.text("error.message").contains("brokerctl partitions remove \(alice)"))
            }
            let listed = try await scene.broker.call("partitions.list")[path: "partitions"].arrayValue ?? []
            let partition = try #require(listed.first { $0["uid"] == .integer(Int64(alice)) })
            #expect(partition["account"] == "ada" && partition["state"] == "otherAccount")
            _ = try await scene.broker.call("partitions.remove", ["uid": .integer(Int64(alice))])
            #expect(try await new.ask("apps.list")[path: "result.apps"] == [])
        }
    }
}
