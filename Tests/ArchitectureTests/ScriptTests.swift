import BrokerTestSupport
import Foundation
import Testing

/// The scripts that root runs: in an installation, and in packages.
@Suite("Root's scripts")
struct ScriptTests {
    /// Programs with which root would run a command as a person, in root's own session.
    private static func changesOfUser(in text: String) -> [String] {
        let programs = #/(^|[\s;&|(`"'])(runuser|su|setpriv|sudo\s+(-\S+\s+)*-(u|-user))(\s|=|$)/#
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") && $0.contains(programs) }
    }

    private static func scripts() throws -> [String] {
        let root = PackageTree.root.path
        let folders = try [".ci", ".debian"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").map { "\(folder)/\($0)" }
        }
        return folders + ["Makefile"]
    }

    @Test("root's scripts run nothing as another user")
    func nothingAsSomebodyElse() throws {
        for path in try Self.scripts() {
            let found = try Self.changesOfUser(in: PackageTree.text(path))
            #expect(found.isEmpty, "\(path): use manager of .ci/managers: \(found)")
        }
        let samples = [
            "runuser -u ada -- true", "  su ada -c true", "x=$(su - ada)", "sudo -u ada true",
            "sudo -n --user=ada true", "setpriv --reuid=ada true",
        ]
        for sample in samples { #expect(!Self.changesOfUser(in: sample).isEmpty, "\(sample)") }
        for sample in ["sudo make install", "# su ada", "echo result", "sudo .ci/deps test"] {
            #expect(Self.changesOfUser(in: sample).isEmpty, "\(sample)")
        }
    }

    /// Readers that may end before they have read everything: the writer is then sometimes ended by SIGPIPE, and with `pipefail`
    /// the script as well.
    private static func hastyReaders(in text: String) -> [String] {
        let readers = #/\|\s*(head\b|grep\s+(-\S+\s+)*-\w*q|awk\b.*\bexit\b|sed\b[^|]*[0-9\/]q\b)/#
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") && $0.contains(readers) }
    }

    @Test("root's scripts read a pipe to its end")
    func pipes() throws {
        for path in try Self.scripts() + ["Sources/Examples/person"] {
            let found = try Self.hastyReaders(in: PackageTree.text(path))
            #expect(found.isEmpty, "\(path): sed -n 1p reads all: \(found)")
        }
        for sample in ["a | head -n 1", "a | grep -q b", "a | awk '$1 == b { print; exit }'", "a | sed 1q"] {
            #expect(!Self.hastyReaders(in: sample).isEmpty, "\(sample)")
        }
        for sample in ["a | sed -n 1p", "grep -q b file", "a | awk '!found { print; found = 1 }'", "# a | head"] {
            #expect(Self.hastyReaders(in: sample).isEmpty, "\(sample)")
        }
    }

    @Test("root's scripts call users' managers in one way, and make files that others can read")
    func managers() throws {
        let names = try Self.scripts().filter { $0.contains(#/\.(post|pre)(inst|rm)$/#) } + [".ci/install"]
        #expect(names.count > 6)
        for path in names {
            let text = try PackageTree.text(path)
            #expect(text.contains("\numask 022\n"), "\(path)")
            #expect(!text.contains("--machine") && !text.contains("deb-systemd-invoke --user"), "\(path)")
        }
    }
}
