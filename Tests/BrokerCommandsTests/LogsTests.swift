import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl logs")
struct LogsTests {
    /// A journalctl that prints its arguments; the first call checks for entries.
    private func logs(_ arguments: [String], journal: String?) async throws -> CommandResult {
        try await withTestBed { bed in
            try FileManager.default.createDirectory(atPath: bed.path("bin"), withIntermediateDirectories: true)
            if let journal { try await bed.install("#!/bin/sh\n\(journal)\n", as: "journalctl") }
            return try await bed.run(
                Launch(
                    try PackageTree.program("brokerctl"), ["logs"] + arguments, environment: ["PATH": bed.path("bin")]))
        }
    }

    private static let echo = #"for word in "$@"; do printf '%s|' "$word"; done; echo"#

    @Test("logs shows the newest hundred entries of the broker's unit")
    func plain() async throws {
        let result = try await logs([], journal: Self.echo)
        #expect(
            result.output
                == "--user-unit|brokerd.service|--no-hostname|--quiet|--output|short-iso|--lines=100|\n", "\(result)")
    }

    @Test("options are passed to journalctl, and no value becomes another option")
    func options() async throws {
        let result = try await logs(
            ["--json", "--since=--vacuum-size=1", "--lines", "5", "--app", "notes", "--follow"], journal: Self.echo)
        #expect(
            result.output.hasSuffix(
                "--output|json|--follow|--since=--vacuum-size=1|--lines=5|BROKER_APP=notes|\n"), "\(result)")
        #expect(try await logs(["--lines", "0"], journal: Self.echo).status == .exited(2))
    }

    @Test("without a journal, a sentence says where the log is", arguments: ["exit 1", "true", nil])
    func none(_ journal: String?) async throws {
        let result = try await logs([], journal: journal)
        #expect(result.status == .exited(1) && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("A broker started by hand logs to its own stderr"), "\(result)")
    }
}
