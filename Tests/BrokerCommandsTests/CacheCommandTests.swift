import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl cache, accounts forget")
struct CacheCommandTests {
    @Test("stats shows counts and sizes in familiar units")
    func statistics() async throws {
        let broker = try broker(["cache.stats": ScriptedAnswers.statistics])
        let result = try await brokerctl(["cache", "stats"], at: broker.path)
        #expect(
            result.lines == [
                "Apps            5", "Accounts        2, 1 signed in", "Groups          2", "Refresh tokens  2",
                "Access tokens   3", "ID tokens       2", "DPoP keys       1",
                "Other records   2 of accounts, 4 of apps, 0 of sign-outs, 3 of grants, 1 of clients, 6 of providers",
                "Audit log       1 rows",
                "On disk         96 KiB, yours 20 KiB", "In memory       900 bytes of cache, 30 MiB the whole broker",
            ])
    }

    @Test("forget takes an account's name and reports the provider's answer")
    func forget() async throws {
        let answer = #"{"accounts":1,"tokens":1,"revocation":"failed: no app is registered."}"#
        let broker = try broker(["accounts.forget": answer])
        let result = try await brokerctl(
            ["accounts", "forget", "ada@example.org", "--revoke", "--yes"], at: broker.path)
        #expect(result.status == .exited(1) && result.errors.isEmpty, "\(result)")
        #expect(
            result.output
                == "Erased ada@example.org with 1 token.\nNot everything could be revoked: no app is registered.\n")
        #expect(broker.requests.map(\.params) == [#"{"account":{"username":"ada@example.org"},"revoke":true}"#])
    }

    private func clearable() throws -> ScriptedBroker {
        let report = #"{"accounts":2,"tokens":7,"revocation":"done"}"#
        return try broker(["cache.stats": ScriptedAnswers.statistics, "cache.clear": report, "accounts.forget": report])
    }

    @Test("clear asks first and does nothing without a yes", arguments: ["y", "n", ""])
    func asks(answer: String) async throws {
        let broker = try clearable()
        try await withTestBed { bed in
            let terminal = try await Terminal.start(
                Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path, "cache", "clear"]), columns: 80,
                rows: 10, in: bed)
            try await terminal.wait(for: "Erase 2 accounts and 2 refresh tokens? [y/N]")
            if !answer.isEmpty { try await terminal.press(answer) }
            try await terminal.press("Enter")
            let isYes = answer == "y"
            try await terminal.wait(for: isYes ? "Erased 2 accounts and 7 tokens." : "Nothing was changed.")
            #expect(try await terminal.exitStatus() == (isYes ? 0 : 1))
            #expect(broker.requests.map(\.method) == (isYes ? ["cache.stats", "cache.clear"] : ["cache.stats"]))
        }
    }

    @Test("forget asks first and does nothing without a yes", arguments: ["y", "n"])
    func forgetAsks(answer: String) async throws {
        let broker = try clearable()
        try await withTestBed { bed in
            let terminal = try await Terminal.start(
                Launch(try PackageTree.program("brokerctl"), ["--socket", broker.path, "accounts", "forget", "ada"]),
                columns: 80, rows: 10, in: bed)
            try await terminal.wait(for: "Erase ada from every app, with all of its tokens? [y/N]")
            try await terminal.press(answer)
            try await terminal.press("Enter")
            try await terminal.wait(for: answer == "y" ? "Erased ada with 7 tokens." : "Nothing was changed.")
            #expect(broker.requests.map(\.method) == (answer == "y" ? ["accounts.forget"] : []))
        }
    }

    @Test("forget needs --yes without a terminal")
    func forgetWithoutTerminal() async throws {
        let broker = try clearable()
        let result = try await brokerctl(["accounts", "forget", "ada"], at: broker.path)
        #expect(result.status == .exited(1) && result.errors.contains("--yes"), "\(result)")
        #expect(broker.requests.isEmpty)
    }

    @Test("--yes skips the question")
    func yes() async throws {
        let broker = try clearable()
        let result = try await brokerctl(["cache", "clear", "--yes"], at: broker.path)
        #expect(result.output == "Erased 2 accounts and 7 tokens.\nThe providers have been notified.\n")
        #expect(broker.requests.map(\.method) == ["cache.clear"])
    }
}
