import BrokerTestSupport
import Foundation
import Testing

@Suite("A key in a database of the real KeePassXC", .serialized)
struct KeePassXCTests {
    private func start(
        _ bed: TestBed, _ keyring: KeePassXC, on directory: String? = nil
    ) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) { options in
            options.stateDirectory = directory
            options.wrapper = ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(keyring.address)"]
            options.configuration = "[vault]\nkey_source = \"secret-service\"\n"
        }
    }

    /// A vault whose key is in the database, which is open; its broker has ended.
    private func vault(_ bed: TestBed, _ keyring: KeePassXC) async throws -> String {
        try await keyring.open()
        let before = keyring.saved()
        let broker = try await start(bed, keyring)
        try await eventually("the key is saved") { keyring.saved() != before }
        try await broker.register("notes", clientID: "native", authority: "https://login.example.org/")
        await broker.stop()
        return broker.stateDirectory
    }

    @Test("the broker starts locked without a database, advises nothing that loses data, and opens with the database")
    func closed() async throws {
        try await withTestBed { bed in
            let keyring = try await KeePassXC.make(in: bed)
            _ = try await keyring.run()
            let directory = try await vault(bed, keyring)
            try await keyring.close()
            let broker = try await start(bed, keyring, on: directory)
            #expect(try await broker.isLocked() == true)
            let refused = try await broker.ctl(["unlock"])
            #expect(refused.status == .exited(4) && refused.errors.contains("no database"), "\(refused)")
            #expect(!refused.errors.contains("vault.db"), "\(refused)")
            try await keyring.open()
            try await broker.opensByItself()
        }
    }

    @Test("the broker's start opens no window for a locked database, and the vault opens with it")
    func locked() async throws {
        try await withTestBed { bed in
            let keyring = try await KeePassXC.make(in: bed)
            _ = try await keyring.run()
            let directory = try await vault(bed, keyring)
            // Locked and opened twice: the first time must leave nothing behind.
            for _ in 1...2 {
                try await keyring.lock()
                let broker = try await start(bed, keyring, on: directory)
                #expect(try await broker.isLocked() == true)
                // A search would have opened a window and waited for it.
                #expect(broker.process.errorText.contains("The keyring is locked"), "\(broker.process.errorText)")
                try await keyring.open()
                try await broker.opensByItself()
                // The vault stays open without it.
                try await keyring.lock()
                #expect(try await broker.ctl(["apps", "list"]).output.contains("notes"))
                await broker.stop()
            }
        }
    }

    @Test("the broker waits for KeePassXC and the database after both were gone")
    func away() async throws {
        try await withTestBed { bed in
            let keyring = try await KeePassXC.make(in: bed)
            let program = try await keyring.run()
            let directory = try await vault(bed, keyring)
            program.send(SIGKILL)
            _ = await program.exitStatus()
            let broker = try await start(bed, keyring, on: directory)
            #expect(try await broker.isLocked() == true)
            let unreachable = try await broker.ctl(["unlock"])
            #expect(unreachable.status == .exited(4), "\(unreachable)")
            #expect(unreachable.errors.contains("cannot be reached"), "\(unreachable)")
            _ = try await keyring.run()
            let empty = try await broker.ctl(["unlock"])
            #expect(empty.status == .exited(4) && empty.errors.contains("no database"), "\(empty)")
            try await keyring.open()
            try await broker.opensByItself()
        }
    }
}
