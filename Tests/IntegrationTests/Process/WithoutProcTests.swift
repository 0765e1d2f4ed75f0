import BrokerTestSupport
import BrokerValues
import Testing

/// As in a chroot, early during boot, or in a broken container.
@Suite("Without /proc", .needsRoot)
struct WithoutProcTests {
    private func run(_ program: String, _ arguments: String..., in bed: TestBed) async throws -> CommandResult {
        let script = #"mount --make-rprivate / && umount --lazy /proc && exec "$@""#
        let words = try ["--mount", "sh", "-ec", script, "sh", PackageTree.program(program)] + arguments
        return try await bed.run(Launch("unshare", words, environment: ["HOME": bed.directory.path]))
    }

    @Test("both programs know their arguments", arguments: ["brokerd", "brokerctl"])
    func arguments(program: String) async throws {
        try await withTestBed { bed in
            let version = try await run(program, "--version", in: bed)
            #expect(version.succeeded && version.output.contains(BrokerVersion.text), "\(version)")
            let unknown = try await run(program, "--nonsense", "caf\u{e9} a", in: bed)
            #expect(unknown.status == .exited(2) && unknown.errors.contains("--nonsense"), "\(unknown)")
        }
    }

    @Test("brokerd names what is missing in one sentence and does not serve, and brokerctl finds no broker")
    func serving() async throws {
        try await withTestBed { bed in
            let socket = bed.path("broker.sock")
            let refused = try await run("brokerd", "--socket", socket, "--state-dir", bed.path("state"), in: bed)
            #expect(refused.status == .exited(1), "\(refused)")
            #expect(
                refused.errors.hasPrefix("brokerd: There is no /proc here") && refused.errors.lineCount == 1,
                "\(refused)")
            let status = try await run("brokerctl", "--socket", socket, "status", in: bed)
            #expect(status.status == .exited(3), "\(status)")
            let login = try await run("brokerctl", "--socket", socket, "login", "--app", "notes", in: bed)
            #expect(login.status == .exited(1) && login.errors.contains("no /proc"), "\(login)")
        }
    }
}

extension String {
    fileprivate var lineCount: Int { split(separator: "\n").count }
}
