import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Unusual file systems.
@Suite(
    "The vault on odd file systems", .serialized,
    .enabled(if: Prerequisite.root.shouldRun, "mounting needs root"))
struct VaultDiskTests {
    private func register(_ app: String, at broker: BrokerProcess) async throws {
        try await broker.register(app, clientID: "native", authority: "https://login.example.org/")
    }

    @Test("the vault works without shared memory mappings of files (FUSE with direct I/O)")
    func withoutSharedMaps() async throws {
        try await withTestBed { bed in
            let folder = try bed.makeDirectory("mounted")
            let mount = try bed.start(
                Launch("bindfs", ["-f", "-o", "direct_io", try bed.makeDirectory("real"), folder]))
            bed.atEnd { _ = try? await bed.run(Launch("umount", [folder])) }
            try await eventually("it is mounted") {
                try mount.requireRunning()
                return try await bed.run(Launch("mountpoint", ["-q", folder])).succeeded
            }
            #expect(chmod(folder, 0o700) == 0)
            let first = try await BrokerProcess.start(in: bed) { $0.stateDirectory = folder }
            try await register("notes", at: first)
            await first.stop()
            let second = try await BrokerProcess.start(in: bed) { $0.stateDirectory = folder }
            #expect(try await second.call("apps.list")[path: "apps"].arrayValue?.count == 1)
            await second.stop()
        }
    }

    /// A small ext4 that its kernel makes read-only at the first error.
    private func makeDisk(in bed: TestBed) async throws -> (folder: String, device: String) {
        let (folder, image) = (try bed.makeDirectory("disk"), bed.path("image"))
        let script =
            #"truncate -s 8M "$0" && mkfs.ext4 -q "$0" && mount -o loop,errors=remount-ro "$0" "$1" && chmod 700 "$1""#
        let made = try await bed.run(Launch("/bin/sh", ["-c", script, image, folder]))
        try #require(made.succeeded, "\(made)")
        bed.atEnd { _ = try? await bed.run(Launch("umount", [folder])) }
        let source = try await bed.run(Launch("findmnt", ["-no", "SOURCE", folder])).output
        return (folder, URL(filePath: source.trimmingCharacters(in: .whitespacesAndNewlines)).lastPathComponent)
    }

    @Test("doctor and a failed start name a disk that turned read-only, with the remedy")
    func readOnly() async throws {
        try await withTestBed { bed in
            let disk = try await makeDisk(in: bed)
            let state = "\(disk.folder)/state"
            let broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
            try await register("notes", at: broker)
            #expect(try await !broker.ctl(["doctor"]).output.contains("read-only"))
            try #require(disk.device.hasPrefix("loop"))
            try Data("1".utf8).write(to: URL(filePath: "/sys/fs/ext4/\(disk.device)/trigger_fs_error"))
            let doctor = try await broker.ctl(["doctor"])
            #expect(doctor.status == .exited(1), "\(doctor)")
            #expect(doctor.output.contains("is read-only") && doctor.output.contains("remount,rw"), "\(doctor)")
            await broker.stop()
            let refusal = try await BrokerProcess.run(in: bed) { $0.stateDirectory = state }
            #expect(refusal.status == .exited(4), "\(refusal)")
            #expect(refusal.errors.contains("is read-only") && refusal.errors.contains("remount,rw"), "\(refusal)")
        }
    }

    @Test("root with another user's home starts no broker there, and leaves nothing in it", .needsRoot)
    func homeOfOther() async throws {
        try await withTestBed { bed in
            let home = try bed.makeDirectory("home")
            #expect(chown(home, 65_534, 65_534) == 0)
            for variables in [[], ["XDG_STATE_HOME=\(bed.path("own"))"]] {
                let refusal = try await BrokerProcess.run(in: bed) {
                    $0.namesStateDirectory = false
                    $0.wrapper = ["env", "HOME=\(home)"] + variables
                }
                #expect(refusal.status == .exited(4), "\(refusal)")
                for part in ["nobody (uid 65534)", "sudo -H"] { #expect(refusal.errors.contains(part), "\(refusal)") }
                #expect(try FileManager.default.contentsOfDirectory(atPath: home) == [])
            }
        }
    }

    @Test(
        "another user's file or folder is reported with its owner, and with the command that helps",
        arguments: [
            "vault.db", "vault.key", ".",
        ])
    func foreign(name: String) async throws {
        try await withTestBed { bed in
            let broker = try await BrokerProcess.start(in: bed)
            await broker.stop()
            #expect(chown("\(broker.stateDirectory)/\(name)", 65_534, 65_534) == 0)
            let refusal = try await BrokerProcess.run(in: bed) { $0.stateDirectory = broker.stateDirectory }
            #expect(refusal.status == .exited(4), "\(refusal)")
            for part in ["nobody (uid 65534)", "root (uid 0)", "chown 0 "] {
                #expect(refusal.errors.contains(part), "\(refusal)")
            }
        }
    }
}
