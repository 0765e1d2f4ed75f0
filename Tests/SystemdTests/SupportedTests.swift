import BrokerTestSupport
import Foundation
import Testing

@Suite("Supported systems", .needsLab)
struct SupportedTests {
    @Test("README.md names the release and the systemd that these tests run on")
    func readme() async throws {
        try await withTestBed { bed in
            let root = try await LabRoot.tested.folder(in: bed)
            let version = try await bed.require("chroot", [root, "systemctl", "--version"])
            let systemd = try #require(version.firstMatch(of: /systemd (\d+)/)).1
            let system = try await bed.require("chroot", [root, "cat", "/etc/os-release"])
            let release = try #require(system.firstMatch(of: /VERSION_ID="(\d+)"/)).1
            let readme = try PackageTree.text("README.md")
            let sentence = try #require(readme.firstMatch(of: /systems are Debian ([^,]*), with systemd ([^.]*)\./))
            let (releases, systemds) = (sentence.1.split(separator: " "), sentence.2.split(separator: " "))
            #expect(releases.contains(release) && systemds.contains(systemd), "\(release), \(systemd): \(sentence.0)")
        }
    }
}
