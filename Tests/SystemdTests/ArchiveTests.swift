import BrokerTestSupport
import Foundation
import Testing

/// The archive that `make dist` made.
@Suite("The archive for other systems", .needsArchive)
struct ArchiveTests {
    @Test("a person installs it without root, runs a broker, and removes it again", arguments: Archive.roots)
    func person(root: LabRoot) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, on: root, installing: false)
            let folder = try await lab.unpack()
            let said = try await lab.user("\(folder)/install")
            #expect(said.contains("systemctl --user enable --now brokerd.socket"), "\(said)")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            let status = try await lab.user("bash", "-c", "~/.local/bin/brokerctl status")
            #expect(status.contains("user mode"), "\(status)")

            try await lab.user("\(folder)/install", "--remove")
            let left = try await lab.user("bash", "-c", "find ~/.local/bin ~/.local/share/systemd -name '*broker*'")
            #expect(left.isEmpty, "\(left)")
        }
    }

    @Test("root installs it for all users", arguments: Archive.roots)
    func everybody(root: LabRoot) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, on: root, installing: false)
            let folder = try await lab.unpack()
            try await lab.root("\(folder)/install")
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("brokerctl", "status")
            let notices = try await lab.root("cat", "/usr/local/share/doc/token-broker/NOTICES")
            #expect(notices.contains("libsodium") && !notices.contains("common-licenses/Apache"))
        }
    }

    @Test("missing libraries are reported together, and nothing is installed")
    func missing() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            let folder = try await lab.unpack()
            try await lab.root("bash", "-c", "rm /usr/lib/*/libcurl.so.4* /usr/lib/*/libsqlite3.so.0*; ldconfig")
            let refused = try await lab.attempt("\(folder)/install")
            #expect(refused.status == .exited(1))
            for said in ["Missing: libcurl.so.4", "Missing: libsqlite3.so.0", "Nothing was installed."] {
                #expect(refused.errors.contains(said), "\(refused)")
            }
            #expect(try await !lab.attempt("bash", "-c", "test -e ~/.local/bin").succeeded)
        }
    }
}

enum Archive {
    static let folder = PackageTree.root.appending(path: ".build-dist").path
    /// Without a root of another release (`BROKER_TEST_RELEASE`), only this machine.
    static let roots: [LabRoot] = LabRoot.tested == .machine ? [.machine] : [.machine, .tested]

    static var file: String {
        get throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            return try "\(folder)/" + #require(names.first { $0.hasSuffix(".tar.gz") }, "\(names)")
        }
    }
}

extension SystemdLab {
    /// Unpacks the archive where all users may read it.
    ///
    /// - Returns: its folder.
    fileprivate func unpack() async throws -> String {
        try await root("tar", "--extract", "--no-same-owner", "--directory", "/opt", "--file", bring(Archive.file))
        return try await root("sh", "-c", "echo /opt/token-broker-*").trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var needsArchive: Self {
        let isMade = FileManager.default.fileExists(atPath: Archive.folder)
        return .enabled(
            if: isMade && LabSupport.shouldRun,
            Comment(rawValue: isMade ? LabSupport.missing ?? "the archive is here" : "make dist was not run"))
    }
}
