import BrokerTestSupport
import Foundation
import Testing

@Suite("Units")
struct UnitTests {
    @Test(
        "are as closed as what they do allows (decision 64)",
        arguments: [
            // Tenths of what systemd-analyze counts, which is 100 for a service without any bounds.
            ("brokerd-system.service", [], 15), ("brokerd.service", ["--user"], 62),
            ("brokerd-session.service", ["--user"], 59),
        ] as [(String, [String], Int)])
    func closed(unit: String, scope: [String], most: Int) async throws {
        try await withTestBed { bed in
            let text = try String(
                contentsOf: PackageTree.root.appending(path: "systemd/\(unit)"), encoding: .utf8)
            let file = bed.path(unit)
            try text.replacing("@PREFIX@", with: "/usr").write(toFile: file, atomically: true, encoding: .utf8)
            let analysis = try await bed.run(
                Launch(
                    "systemd-analyze",
                    scope + ["security", "--offline=true", "--no-pager", "--threshold=\(most)", file],
                    environment: ["XDG_RUNTIME_DIR": bed.directory.path]))
            #expect(analysis.succeeded, "\(analysis)")
            #expect(analysis.output.contains("Overall exposure level"), "\(analysis)")
        }
    }
}
