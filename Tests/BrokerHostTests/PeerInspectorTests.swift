import BrokerHost
import BrokerModel
import BrokerTestSupport
import Foundation
import Testing

@Suite("Who a process is")
struct PeerInspectorTests {
    private let inspector = LinuxPeerInspector()

    @Test("a program of the system is recognised as one that only root can change")
    func systemProgram() async throws {
        try await withTestBed { bed in
            let sleeper = try bed.start(Launch("/usr/bin/sleep", ["300"]))
            try await eventually("it runs") { facts(of: sleeper.pid).executable == "/usr/bin/sleep" }
            #expect(facts(of: sleeper.pid).executableIsRootOwned)
            #expect(facts(of: sleeper.pid).sandboxID == nil)
        }
    }

    @Test("a copy in a folder that others can write to is named, and not taken for the system's")
    func copy() async throws {
        try await withTestBed { bed in
            let sleeper = try await startCopy(in: bed)
            #expect(facts(of: sleeper.pid).executable == bed.path("copy"))
            #expect(!facts(of: sleeper.pid).executableIsRootOwned)
        }
    }

    @Test("a program whose file was replaced is not known by its path any more")
    func replaced() async throws {
        try await withTestBed { bed in
            let sleeper = try await startCopy(in: bed)
            try FileManager.default.removeItem(atPath: bed.path("copy"))
            #expect(facts(of: sleeper.pid).executable == nil)
            try FileManager.default.copyItem(atPath: "/usr/bin/sleep", toPath: bed.path("copy"))
            #expect(facts(of: sleeper.pid).executable == nil)
        }
    }

    @Test("a process that is gone, or that the number belongs to somebody else's by now, leaves its credentials only")
    func vanished() async throws {
        try await withTestBed { bed in
            let gone = try bed.start(Launch("/bin/true", []))
            _ = await gone.exitStatus()
            #expect(facts(of: gone.pid) == PeerFacts(uid: getuid(), gid: getgid(), pid: gone.pid))

            let sleeper = try bed.start(Launch("/usr/bin/sleep", ["300"]))
            let other = PeerCredentials(uid: getuid() + 1, gid: 5, pid: sleeper.pid)
            #expect(inspector.inspect(other) == PeerFacts(uid: getuid() + 1, gid: 5, pid: sleeper.pid))
            for pid: Int32 in [0, -1] {
                #expect(facts(of: pid) == PeerFacts(uid: getuid(), gid: getgid(), pid: pid))
            }
        }
    }

    @Test("the label of the connection is passed on, and an enforced snap profile in it names the snap")
    func snap() {
        let label = "snap.firefox.firefox (enforce)"
        let facts = inspector.inspect(
            PeerCredentials(uid: geteuid(), gid: getegid(), pid: getpid(), securityLabel: label))
        #expect(facts.securityLabel == label)
        #expect(facts.sandboxID == "snap.firefox.firefox")
    }

    @Test(
        "a program that sees other mounts cannot claim another one's path",
        .enabled(if: Prerequisite.root.shouldRun, "needs root, for a mount namespace"))
    func otherMounts() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let path = bed.path("trusted")
            try Data("trusted".utf8).write(to: URL(filePath: path))
            let script = "mount --bind /usr/bin/sleep \(path) && echo mounted && exec \(path) 300"
            let impostor = try bed.start(
                Launch("unshare", ["--mount", "--propagation", "private", "sh", "-c", script]))
            try await impostor.waitForText("mounted")
            try await eventually("it runs the bound file") {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(impostor.pid)/exe")) == path
            }
            #expect(facts(of: impostor.pid).executable == nil)
            #expect(!facts(of: impostor.pid).executableIsRootOwned)
        }
    }

    @Test(
        "a sandbox made as Flatpak makes it is known by its application, one with a mere file is not",
        .enabled(if: Prerequisite.root.shouldRun, "needs root, for a root of its own"), arguments: [true, false])
    func flatpak(asMount: Bool) async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let root = try bed.makeDirectory("root")
            let place = asMount ? "touch .flatpak-info && mount --bind info .flatpak-info" : "cp info .flatpak-info"
            let script = """
                mount -t tmpfs none \(root) && cd \(root) && mkdir usr && mount --rbind /usr usr || exit 1
                for name in bin lib lib64; do ln -s usr/$name $name; done
                printf '[Application]\\nname=org.example.Mail\\n' > info && \(place) && echo built
                exec chroot . /usr/bin/sleep 300
                """
            let sandboxed = try bed.start(
                Launch("unshare", ["--mount", "--propagation", "private", "sh", "-c", script]))
            try await sandboxed.waitForText("built")
            try await eventually("it runs inside") {
                (try? String(contentsOfFile: "/proc/\(sandboxed.pid)/comm", encoding: .utf8)) == "sleep\n"
            }
            #expect(facts(of: sandboxed.pid).sandboxID == (asMount ? "org.example.Mail" : nil))
        }
    }

    private func facts(of pid: Int32) -> PeerFacts {
        inspector.inspect(PeerCredentials(uid: getuid(), gid: getgid(), pid: pid))
    }

    /// Another process copies: a file that this one has just had open for writing cannot always be executed while other
    /// tests start processes (ETXTBSY).
    private func startCopy(in bed: TestBed) async throws -> ManagedProcess {
        _ = try await bed.run(Launch("cp", ["/usr/bin/sleep", bed.path("copy")]))
        let process = try bed.start(Launch(bed.path("copy"), ["300"]))
        try await eventually("it runs") { facts(of: process.pid).executable == bed.path("copy") }
        return process
    }
}
