import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Programs that open a URL at a desktop", .serialized) struct OpenerTests {
    /// Every character of a URL that a shell, a desktop entry or a format string would interpret.
    private static let url =
        "https://idp.example/$HOME/~'a;(b)!*,+@:%20%24%25s?x='y;z'&u=$(id)&v=-n#f'$HOME"

    @Test("xdg-open passes the URL to the default browser unchanged", arguments: ["GNOME", ""])
    func opener(desktop: String) async throws {
        try await withTestBed { bed in
            var environment = try await PortalTests.environment(in: bed)
            environment["PATH"] = "/usr/bin:/bin"
            environment["XDG_CURRENT_DESKTOP"] = desktop
            environment["DBUS_SESSION_BUS_ADDRESS"] = try await SessionBus.start(in: bed)
            try await open(.desktop, environment, in: bed)
        }
    }

    @Test("busctl and the portal pass the URL to the default browser unchanged")
    func portal() async throws {
        try await withTestBed { bed in
            let environment = try await PortalTests.environment(in: bed)
            try await open(.portal, environment, startedBy: ["dbus-run-session", "--"], in: bed)
        }
    }

    private func open(
        _ command: BrowserCommand, _ environment: [String: String], startedBy starter: [String] = [], in bed: TestBed
    ) async throws {
        let opened = bed.path("page")
        // The program's own bus ends with it.
        let script = "\"$@\" && while [ ! -e '\(opened)' ]; do sleep 0.1; done"
        let words = starter + ["sh", "-c", script, "sh"] + command.commandLine(for: Self.url)
        let result = try await bed.run(Launch(words[0], Array(words.dropFirst()), environment: environment))
        #expect(result.succeeded, "\(result)")
        #expect(try String(contentsOfFile: opened, encoding: .utf8) == HandOver.address(Self.url) + "\n")
    }
}
