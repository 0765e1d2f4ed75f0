import BrokerTestSupport
import Foundation
import Testing

@Suite("Units")
struct UnitTests {
    @Test(
        "units are as restricted as their work allows (decision 35)",
        arguments: [
            // Tenths of systemd-analyze's score, which is 100 for a service without any restrictions.
            ("brokerd-system.service", [], 15), ("brokerd.service", ["--user"], 62),
            ("brokerd-session.service", ["--user"], 59),
        ] as [(String, [String], Int)])
    func closed(unit: String, scope: [String], most: Int) async throws {
        try await withTestBed { bed in
            let text = try PackageTree.text("systemd/\(unit)")
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

    private static func units(_ suffixes: String...) throws -> [String: String] {
        let folder = PackageTree.root.appending(path: "systemd")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try Dictionary(
            uniqueKeysWithValues: names.filter { name in suffixes.contains { name.hasSuffix($0) } }.map {
                ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
            })
    }

    @Test("units have no start limit (decision 34), and keep the thread pool's messages out of the journal")
    func lines() throws {
        let (all, services) = try (Self.units(".socket", ".service"), Self.units(".service"))
        #expect(all.count > services.count && services.count > 2)
        for (name, text) in all { #expect(text.contains("\nStartLimitIntervalSec=0\n"), "\(name)") }
        for (name, text) in services { #expect(text.contains("\nEnvironment=LIBDISPATCH_LOG=NO\n"), "\(name)") }
    }

    @Test(
        "units are installed with the keys that the machine's systemd knows",
        arguments: [(252, "RestartSec=1s\n", false), (254, "RestartSec=200ms\n", true)])
    func versions(version: Int, pause: String, grows: Bool) async throws {
        try await withTestBed { bed in
            let programs = try bed.makeDirectory("programs")
            try "#!/bin/sh\necho 'systemd \(version) (\(version).1-1)'\n".write(
                toFile: "\(programs)/systemctl", atomically: true, encoding: .utf8)
            try await bed.require("chmod", ["755", "\(programs)/systemctl"])
            let place = try bed.makeDirectory("staged")
            let path = "\(programs):\(Launch.cleanEnvironment["PATH"] ?? "/usr/bin:/bin")"
            let installed = try await bed.run(
                Launch(
                    "make", SystemdLab.make + ["install", "PREFIX=/usr", "DESTDIR=\(place)"],
                    environment: ["PATH": path]))
            #expect(installed.succeeded, "\(installed)")
            for file in ["lib/systemd/user/brokerd.service", "share/doc/token-broker/systemd/brokerd-system.service"] {
                let text = try String(contentsOfFile: "\(place)/usr/\(file)", encoding: .utf8)
                #expect(text.contains("\n\(pause)") && text.contains("\nRestartSteps=") == grows, "\(file)")
            }
        }
    }
}
