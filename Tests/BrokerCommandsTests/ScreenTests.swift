import BrokerCommandLine
import BrokerTestSupport
import Foundation
import Testing

/// The output of commands in terminals of common and small sizes.
@Suite("Output fits the terminal")
struct ScreenTests {
    private static let sizes = [(80, 24), (50, 24), (40, 20)]

    private static let id = "962d64ca2b0314ebb859d5c96b43720b7f3d51e6"
    private static let caller =
        #"{"tier":"systemInstalled","id":"/usr/lib/evolution-data-server/evolution-source-registry"}"#
    private static let facts =
        #""facts":{"rootMount":"same","userNamespace":"same","executable":"/usr/lib/evolution-data-server"}"#
    private static let app =
        #"{"name":"correspondence","clientId":"8d52b2a7-6b3c-4b8e-a8c2-f7a0b8f9c001","group":"office","#
        + #""authority":"https://login.example.org/realms/department/v2.0","scopes":["mail.read","calendar.read"],"#
        + #""executables":["/usr/bin/thunderbird"],"units":[],"sandboxIds":[],"confidential":false}"#

    /// With values of realistic length.
    private static let answers = [
        "broker.status": ScriptedAnswers.status.replacing(
            "/var/lib/x/vault.db", with: "/home/ada/.local/state/brokerd/vault.db"),
        "broker.metrics": MetricsCommandTests.metrics,
        "broker.callers":
            #"{"callers":[{"tier":"systemInstalled","id":"/usr/bin/brokerctl","administers":true,\#(facts)}]}"#,
        "accounts.list": #"{"accounts":[\#(account)]}"#,
        "accounts.get": #"{"account":\#(account)}"#,
        "apps.list": #"{"apps":[\#(app)]}"#,
        "grants.list":
            #"{"grants":[{"id":"x2f3q2m9ab","caller":\#(caller),"app":"correspondence","account":{"id":"\#(id)"},"#
            + #""createdOn":1000,"expiresOn":99999999999,"uses":7,"lastUsedOn":2000}],"#
            + #""requests":[{"id":"k7f3q2m9ab","caller":\#(caller),"app":"correspondence","scopes":["mail.read"],"#
            + #""requestedOn":1000,\#(facts)}]}"#,
        "sandboxes.list":
            #"{"sandboxes":[{"handle":"h2","path":"/run/user/1000/brokerd/sandboxes/h2/broker.sock","engine":"podman","#
            + #""id":"build","apps":["correspondence"],"rights":["token"],"openedBy":\#(caller),"openedOn":1}]}"#,
        "audit.list":
            #"{"entries":[{"sequence":2,"time":2000,"count":12,"caller":\#(caller),"method":"token.acquireSilent","#
            + #""app":"correspondence","account":"\#(id)","scopes":["mail.read","calendar.read"],"outcome":"failed","#
            + #""reason":"interactionRequired","correlationId":"0b0c3f4e-6f3f-4a57-9a43-0d3fdb6e8f11"}],"intact":true}"#,
    ]

    private static var account: String {
        ScriptedAnswers.account(id: id, username: "ada.lovelace@department.example.org", name: "Ada Lovelace")
    }

    /// Runs it in a terminal.
    ///
    /// - Returns: its lines, with wrapped ones joined.
    private func lines(
        _ command: [String], _ size: (columns: Int, rows: Int), at broker: ScriptedBroker
    ) async throws -> [String] {
        try await withTestBed { bed in
            let terminal = try await Terminal.start(
                Launch(
                    try PackageTree.program("brokerctl"), ["--socket", broker.path] + command,
                    environment: ["HOME": bed.directory.path, "LANG": "C.UTF-8"]),
                columns: size.columns, rows: size.rows, in: bed)
            _ = try await terminal.exitStatus()
            return try await awaited("something is printed") {
                let lines = try await terminal.history()
                return lines.contains { !$0.isEmpty } ? lines : nil
            }
        }
    }

    private func expectFit(_ lines: [String], _ columns: Int) {
        let text = lines.joined(separator: "\n")
        // The terminal wraps a line only for a word longer than the width.
        for line in lines where line.count > columns {
            #expect(
                !line.trimmingCharacters(in: .whitespaces).contains(" "), "“\(line)” in \(columns) columns:\n\(text)")
        }
    }

    @Test(
        "lists, facts and findings fit",
        arguments: [
            ["status"], ["status", "--callers"], ["accounts", "list"], ["accounts", "show", "ada"], ["apps", "list"],
            ["apps", "show", "correspondence"], ["grants", "list"], ["sandboxes", "list"], ["audit", "--facts"],
            ["config", "show"], ["doctor"],
        ], sizes)
    func results(_ command: [String], _ size: (columns: Int, rows: Int)) async throws {
        let broker = try broker(Self.answers)
        let lines = try await lines(command, size, at: broker)
        expectFit(lines, size.columns)
        #expect(!lines.contains { $0.contains("brokerctl: ") }, "\(lines)")
    }

    @Test("a list is a table at 80 columns and complete blocks at 40")
    func accounts() async throws {
        let broker = try broker(Self.answers)
        let wide = try await lines(["accounts", "list"], (80, 24), at: broker)
        #expect(wide.first?.hasPrefix("USERNAME  ") == true && wide.first?.hasSuffix("ID") == true, "\(wide)")
        #expect(wide.dropFirst().first?.contains(" signed in  962d64ca") == true, "\(wide)")
        let narrow = try await lines(["accounts", "list"], (40, 20), at: broker)
        #expect(narrow.contains { $0.hasSuffix(Self.id) } && narrow.contains("STATE     signed in"), "\(narrow)")
    }

    @Test(
        "help and usage errors fit",
        arguments: [
            ["--help"], ["login", "--help"], ["apps", "add", "--help"], ["help", "token"], ["lgoin"],
            ["login", "--ap"],
            ["login", "--app", "x", "--device-code", "--manual"], ["accounts"],
        ], sizes)
    func help(_ command: [String], _ size: (columns: Int, rows: Int)) async throws {
        expectFit(try await lines(command, size, at: try broker([:])), size.columns)
    }

    @Test("an error with all its details fits", arguments: sizes)
    func failure(_ size: (columns: Int, rows: Int)) async throws {
        let broker = try ScriptedBroker.refusing(
            "invalidClient",
            message: "The provider does not accept this client, or not with the secret that it was shown.",
            more: #","correlationId":"0b0c3f4e-6f3f-4a57-9a43-0d3fdb6e8f11","oauthError":"invalid_client","#
                + #""description":"AADSTS7000215: Invalid client secret provided. Ensure the secret being sent is the "#
                + #"value, not its id.","httpStatus":401"#)
        let lines = try await lines(["accounts", "list"], size, at: broker)
        expectFit(lines, size.columns)
        #expect(lines.contains { $0.hasPrefix("  Correlation id: ") || $0 == "  Correlation id:" }, "\(lines)")
    }

    @Test("a sign-in without a browser shows the other ways as commands to copy", arguments: sizes)
    func otherWays(_ size: (columns: Int, rows: Int)) async throws {
        let broker = try ScriptedBroker { peer in
            guard peer.request() != nil else { return }
            peer.notify("interaction.open", ScriptedAnswers.opening(correlationId: "c-1"))
            peer.waitForEnd()
        }
        try await withTestBed { bed in
            let terminal = try await Terminal.start(
                Launch(
                    try PackageTree.program("brokerctl"),
                    ["login", "--app", "correspondence", "--scope", "mail.read", "--browser", "nosuch"],
                    environment: ["BROKER_SOCKET": broker.path]),
                columns: size.columns, rows: size.rows, in: bed)
            try await terminal.wait(for: "--manual")
            let lines = try await terminal.screen()
            expectFit(lines, size.columns)
            #expect(lines.contains { $0.hasSuffix(" \\") } == (size.columns < 60), "\(lines)")
            try await terminal.press("C-c")
            #expect(try await terminal.exitStatus() == 130)
        }
    }
}
