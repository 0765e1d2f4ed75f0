import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite(
    "Administration with a required group",
    .enabled(if: Prerequisite.root.shouldRun, "needs root, to install a set-group-id program"))
struct AdminProofTests {
    @Test("a set-group-id brokerctl administers, other programs and its children do not")
    func group() async throws {
        try await withTestBed { bed in
            let groups = bed.path("group")
            // Any number works: the broker sees this file in place of /etc/group.
            try "root:x:0:\nbrokerctl:x:4242:\n".write(toFile: groups, atomically: true, encoding: .utf8)
            let broker = try await BrokerProcess.start(in: bed) { options in
                options.configuration = "admin.proof = \"setgid\"\n"
                options.wrapper = [
                    "unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
                    "mount --bind \(groups) /etc/group && exec \"$@\"", "sh",
                ]
            }
            let plain = try await broker.ctl(["grants", "list"])
            #expect(!plain.succeeded && plain.errors.contains("admin.proof is setgid"), "\(plain)")

            let installed = bed.path("installed")
            let made = try await bed.run(
                Launch(
                    "/bin/sh",
                    [
                        "-c", "cp \"$1\" \"$2\" && chown 0:4242 \"$2\" && chmod 2755 \"$2\"", "sh",
                        try PackageTree.program("brokerctl"), installed,
                    ]))
            #expect(made.succeeded, "\(made)")
            func run(_ arguments: [String]) async throws -> CommandResult {
                try await bed.run(Launch(installed, arguments + ["--socket", broker.socket]))
            }
            let shown = try await run(["grants", "list"])
            #expect(shown.succeeded, "\(shown)")
            // Its children have the user's own group, and no way back.
            let child = try await run(["run-in", "--engine", "box", "--id", "b"])
            #expect(child.status == .exited(2))
            let started = try await bed.run(
                Launch(
                    installed,
                    [
                        "run-in", "--socket", broker.socket, "--engine", "box", "--id", "b", "--", "/usr/bin/python3",
                        "-c",
                        "import os; print(os.getresgid()[1:], 4242 in os.getgroups())",
                    ]))
            #expect(started.output == "(0, 0) False\n", "\(started)")
        }
    }
}
