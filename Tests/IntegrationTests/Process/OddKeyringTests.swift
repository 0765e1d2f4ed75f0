import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A keyring that behaves like real ones at bad moments.
private struct OddKeyring {
    private let bed: TestBed
    private let folder: String
    private let address: String
    let process: ManagedProcess

    static func start(in bed: TestBed) async throws -> OddKeyring {
        let (folder, address) = (try bed.makeDirectory("keyring"), try await SessionBus.start(in: bed))
        let process = try bed.start(
            Launch(
                "/usr/bin/python3", [PackageTree.fixture("odd-keyring.py"), folder],
                environment: ["DBUS_SESSION_BUS_ADDRESS": address]), as: "odd-keyring")
        try await eventually("the keyring is there") {
            try process.requireRunning()
            return try await bed.run(
                Launch("busctl", ["--address=\(address)", "status", "org.freedesktop.secrets"])
            ).succeeded
        }
        return OddKeyring(bed: bed, folder: folder, address: address, process: process)
    }

    func set(_ name: String, _ content: String = "") throws {
        try content.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    func unset(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }

    var hasAsked: Bool { FileManager.default.fileExists(atPath: "\(folder)/asked") }

    func broker(on directory: String? = nil) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) { options in
            options.stateDirectory = directory
            options.wrapper = ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(address)"]
            options.configuration = "[vault]\nkey_source = \"secret-service\"\n"
        }
    }

    /// A broker that starts while the keyring is in the state of `change`, with an existing vault.
    func broker(after change: () throws -> Void) async throws -> BrokerProcess {
        let first = try await broker()
        try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
        await first.stop()
        try change()
        return try await broker(on: first.stateDirectory)
    }
}

@Suite("A keyring at a bad moment", .serialized)
struct OddKeyringTests {
    @Test("with a keyring that hangs the broker starts locked, and opens when it answers")
    func silent() async throws {
        try await withTestBed { bed in
            let keyring = try await OddKeyring.start(in: bed)
            let broker = try await keyring.broker { try keyring.set("silent") }
            #expect(try await broker.isLocked() == true)
            try keyring.unset("silent")
            try await broker.opensByItself()
        }
    }

    @Test("without an open keyring the broker starts locked, says what to open, and leaves the vault unchanged")
    func empty() async throws {
        try await withTestBed { bed in
            let keyring = try await OddKeyring.start(in: bed)
            let broker = try await keyring.broker { try keyring.set("empty") }
            #expect(try await broker.isLocked() == true)
            let refused = try await broker.ctl(["unlock"])
            #expect(refused.status == .exited(4) && refused.errors.contains("nothing open"), "\(refused)")
            #expect(!refused.errors.contains("vault.db"), "\(refused)")
            try keyring.unset("empty")
            try await broker.opensByItself()
        }
    }

    @Test("a keyring with a prompt asks nothing at the start, but prompts the person who runs unlock")
    func prompts() async throws {
        try await withTestBed { bed in
            let keyring = try await OddKeyring.start(in: bed)
            let broker = try await keyring.broker {
                try keyring.set("prompts", "dismissed")
                try keyring.set("locked")
            }
            #expect(try await broker.isLocked() == true)
            #expect(!keyring.hasAsked)
            let dismissed = try await broker.ctl(["unlock"])
            #expect(dismissed.status == .exited(4) && dismissed.errors.contains("question was closed"), "\(dismissed)")
            #expect(keyring.hasAsked)
            #expect(try await broker.isLocked() == true)
            try keyring.set("prompts", "opened")
            let opened = try await broker.ctl(["unlock"])
            #expect(opened.status == .exited(0), "\(opened)")
            #expect(try await broker.isLocked() == false)
        }
    }

    @Test("if the keyring ends during its prompt, unlock reports it, and the broker continues")
    func endsWhileAsking() async throws {
        try await withTestBed { bed in
            let keyring = try await OddKeyring.start(in: bed)
            let broker = try await keyring.broker {
                try keyring.set("prompts", "asked")
                try keyring.set("locked")
            }
            let unlock = try broker.startCtl(["unlock"])
            try await eventually("it asks") { keyring.hasAsked }
            await keyring.process.stop()
            #expect(await unlock.exitStatus() == .exited(4))
            #expect(try await broker.isLocked() == true)
        }
    }
}
