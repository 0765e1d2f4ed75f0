import BrokerTestSupport
import Foundation
import Testing

extension SSHTests {
    /// A machine that loses its power ends no program in order: what ssh, sshd and the folder's keeper do at an end is not done.
    @Test("the other machine's power cut ends the login, and the next one works after it has started again", .needsRoot)
    func farReboot() async throws {
        try await withTestBed { bed in
            var scene = try await Scene.make(in: bed)
            let login = try scene.start("devbox", Self.stay, as: "login")
            try await login.waitForText("at /")
            let folder = try Self.folder(of: login)
            try await scene.far.cutPower()
            #expect(await login.exitStatus() == .exited(255), "\(login.logTail)")
            #expect(try await scene.sandboxes() == 0)
            #expect(try scene.far.leftovers() == [])
            // The folder that nobody removed is in a place that a start clears, and holds sockets without a listener.
            #expect(FileManager.default.fileExists(atPath: folder))
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.far.home()) == [])

            let refused = try await scene.run("devbox", "echo ran")
            #expect(refused.status == .exited(255) && refused.output.isEmpty, "\(refused)")
            try await scene.far.boot()
            let next = try await scene.run("devbox", "echo at $BROKER_SOCKET.; test -S \"$BROKER_SOCKET\"")
            #expect(next.succeeded && !next.output.contains(folder), "\(next)")
            #expect(try await scene.sandboxes() == 0)
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test("a power cut here leaves nothing there, and no sandbox after the broker has started again", .needsRoot)
    func nearReboot() async throws {
        try await withTestBed { bed in
            var scene = try await Scene.make(in: bed)
            let login = try scene.start("devbox", Self.stay, as: "login")
            try await login.waitForText("at /")
            let folder = try Self.folder(of: login)
            let programs = try await scene.far.processes(below: [login.pid])
            for pid in [scene.near.broker.process.pid] + programs { kill(pid, SIGKILL) }
            _ = await scene.near.broker.process.exitStatus()
            try await eventuallyGone(folder)
            #expect(try FileManager.default.contentsOfDirectory(atPath: scene.far.home()) == [])

            try await scene.near.startAgain()
            #expect(try await scene.sandboxes() == 0)
            #expect(try await scene.run("devbox", "test -S \"$BROKER_SOCKET\"").succeeded)
        }
    }
}
