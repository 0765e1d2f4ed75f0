import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl apps show, edit and add with an existing app")
struct EditAppTests {
    private static let app =
        #"{"name":"mail","clientId":"c","authority":"https://idp","group":"office","scopes":["a"],"#
        + #""executables":["/usr/bin/mail"],"units":[],"sandboxIds":["org.example.Mail"],"confidential":true}"#

    private static func recorded(_ seen: Recorder<String>) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "apps.list" {
                    peer.answer(request, #"{"apps":[\#(app)]}"#)
                } else {
                    seen.add(request.params.replacingOccurrences(of: #"\/"#, with: "/"))
                    peer.answer(request, #"{"app":\#(app)}"#)
                }
            }
        }
    }

    @Test("edit changes named values, removes those named with nothing and keeps the rest")
    func edit() async throws {
        let seen = Recorder<String>()
        let broker = try Self.recorded(seen)
        let result = try await brokerctl(
            ["apps", "edit", "mail", "--scope", "b", "c", "--group", "", "--sandbox", ""], at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        let request = try #require(seen.all.first)
        for part in [#""b","c""#, "/usr/bin/mail", #""clientId":"c""#, "https://idp", #""keepClientSecret":true"#] {
            #expect(request.contains(part), "\(part) in \(request)")
        }
        for part in ["office", "org.example.Mail", "clientSecret\""] { #expect(!request.contains(part)) }
    }

    @Test(
        "edit checks another authority first, as add does",
        arguments: [
            (["--authority", "https://other"], true), (["--authority", "https://other", "--no-check"], false),
            (["--group", "x"], false), (["--check"], true),
        ])
    func check(options: [String], isChecked: Bool) async throws {
        let seen = Recorder<String>()
        let broker = try Self.recorded(seen)
        let result = try await brokerctl(["apps", "edit", "mail"] + options, at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        #expect(seen.all.first?.contains(#""checkAuthority":true"#) == isChecked, "\(seen.all)")
    }

    @Test("edit changes nothing if no provider answers at the new authority, and names --no-check")
    func noProvider() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                guard request.method == "apps.list" else {
                    peer.fail(request, "invalidResponse", message: "No provider.")
                    continue
                }
                peer.answer(request, #"{"apps":[\#(Self.app)]}"#)
            }
        }
        let result = try await brokerctl(["apps", "edit", "mail", "--authority", "https://other"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(
            result.errors.hasPrefix(
                "brokerctl: No provider. Nothing was changed; to change the app anyway, use --no-check."),
            "\(result)")
    }

    @Test("edit sets a choice to on, off and auto", arguments: ["on", "off", "auto"])
    func choices(choice: String) async throws {
        let seen = Recorder<String>()
        let broker = try Self.recorded(seen)
        let result = try await brokerctl(
            ["apps", "edit", "mail", "--bind-refresh-token", choice, "--offline-access", choice], at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        let request = try #require(seen.all.first)
        for name in ["bindRefreshToken", "offlineAccess"] {
            #expect(request.contains("\"\(name)\":\(choice == "on")") == (choice != "auto"), "\(request)")
            #expect(request.contains(name) == (choice != "auto"), "\(request)")
        }
    }

    @Test("show prints everything about an app and reports an unknown one", arguments: [true, false])
    func show(isThere: Bool) async throws {
        let broker = try Self.recorded(Recorder())
        let result = try await brokerctl(["apps", "show", isThere ? "mail" : "calendar"], at: broker.path)
        #expect(result.status == .exited(isThere ? 0 : 1))
        #expect((isThere ? result.output : result.errors).contains(isThere ? "org.example.Mail" : "calendar"))
    }

    @Test("add refuses an existing name unless --replace is given", arguments: [[], ["--replace"]])
    func add(options: [String]) async throws {
        let seen = Recorder<String>()
        let broker = try Self.recorded(seen)
        let result = try await brokerctl(
            ["apps", "add", "mail", "--client-id", "c", "--authority", "https://idp"] + options, at: broker.path)
        #expect(result.status == .exited(0), "\(result)")
        #expect(seen.all.first?.contains(#""replace":false"#) == options.isEmpty)
    }

    @Test("a client secret comes from either a file or standard input")
    func secret() async throws {
        let seen = Recorder<String>()
        let broker = try Self.recorded(seen)
        let add = [
            "apps", "add", "mail", "--client-id", "c", "--authority", "https://idp", "--client-secret-file", "-",
        ]
        #expect(try await brokerctl(add, at: broker.path, input: "hush\n").status == .exited(0))
        #expect(seen.all.first?.contains("hush") == true)
        #expect(try await brokerctl(add + ["--client-secret-stdin"], at: broker.path).status == .exited(2))
    }
}
