import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A session bus with GNOME Keyring on it, for one test.
private struct Keyring {
    private static let password = "keyring-password"
    private let bed: TestBed
    private let environment: [String: String]
    let address: String

    static func start(in bed: TestBed) async throws -> Keyring {
        Keyring(bed: bed, address: try await SessionBus.start(in: bed))
    }

    private init(bed: TestBed, address: String) {
        self.bed = bed
        self.address = address
        environment = [
            "HOME": bed.directory.path, "XDG_RUNTIME_DIR": bed.directory.path, "DBUS_SESSION_BUS_ADDRESS": address,
        ]
    }

    /// The daemon, with its keyring unlocked.
    func run() async throws -> ManagedProcess {
        let input = bed.path("keyring.input")
        try Self.password.write(toFile: input, atomically: true, encoding: .utf8)
        let daemon = try bed.start(
            Launch(
                "/bin/sh",
                ["-c", "exec gnome-keyring-daemon --unlock --components=secrets --foreground < \"$0\"", input],
                environment: environment), as: "keyring")
        try await eventually("the keyring is open") {
            try daemon.requireRunning()
            let locked = try await call(
                ["get-property", Self.service, Self.login, "org.freedesktop.Secret.Collection", "Locked"])
            return locked.output.contains("b false")
        }
        return daemon
    }

    private static let service = "org.freedesktop.secrets"
    private static let login = "/org/freedesktop/secrets/collection/login"

    func call(_ arguments: [String]) async throws -> CommandResult {
        try await bed.run(Launch("busctl", ["--address=\(address)"] + arguments))
    }

    func lock() async throws {
        let result = try await call(
            [
                "call", Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Lock", "ao", "1",
                Self.login,
            ])
        #expect(result.succeeded, "\(result)")
    }

    /// The broker's item.
    func item() async throws -> String? {
        let found = try await call(
            [
                "call", Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "SearchItems",
                "a{ss}", "1", "xdg:schema", "token-broker.VaultKey",
            ])
        return found.output.split(separator: "\"").first { $0.hasPrefix("/") }.map(String.init)
    }

    func delete(_ item: String) async throws {
        let result = try await call(["call", Self.service, item, "org.freedesktop.Secret.Item", "Delete"])
        #expect(result.succeeded, "\(result)")
    }
}

@Suite("A key in the person's keyring, by a real GNOME Keyring", .serialized)
struct KeyringTests {
    private func start(
        _ bed: TestBed, _ keyring: Keyring, on directory: String? = nil, source: String? = nil
    ) async throws -> BrokerProcess {
        try await BrokerProcess.start(in: bed) { options in
            options.stateDirectory = directory
            options.wrapper = ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(keyring.address)"]
            if let source { options.configuration = "[vault]\nkey_source = \(source)\n" }
        }
    }

    private func isLocked(_ broker: BrokerProcess) async throws -> Bool? {
        try await broker.call("broker.status")["locked"]?.boolValue
    }

    private func runRefused(_ bed: TestBed, _ keyring: Keyring, on directory: String) async throws -> CommandResult {
        try await BrokerProcess.run(in: bed) { options in
            options.stateDirectory = directory
            options.wrapper = ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(keyring.address)"]
        }
    }

    @Test("it moves there and back; the vault opens with it, and no key file stays behind")
    func thereAndBack() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let first = try await start(bed, keyring)
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            #expect(try await first.ctl(["key", "status"]).output.contains("secret-service"))
            let set = try await first.ctl(["key", "set-source", "secret-service"])
            #expect(set.status == .exited(0), "\(set)")
            #expect(try await keyring.item() != nil)
            await first.stop()
            #expect(!FileManager.default.fileExists(atPath: "\(first.stateDirectory)/vault.key"))

            let second = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await isLocked(second) == false)
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
            let back = try await second.ctl(["key", "set-source", "key-file"])
            #expect(back.status == .exited(0), "\(back)")
            #expect(try await keyring.item() == nil, "the key that is of no use any more is gone")
            await second.stop()
            let third = try await BrokerProcess.start(in: bed) { $0.stateDirectory = first.stateDirectory }
            #expect(try await third.ctl(["apps", "list"]).output.contains("notes"))
        }
    }

    @Test("a new vault takes it when it comes first in the order, and the next one when nothing offers it")
    func order() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            let order = "[\"secret-service\", \"key-file\"]"
            let without = try await start(bed, keyring, source: order)
            #expect(try await without.call("keys.status")["source"] == "key-file")
            _ = try await keyring.run()
            let with = try await start(bed, keyring, source: order)
            #expect(try await with.call("keys.status")["source"] == "secret-service")
        }
    }

    @Test("while the keyring is away or locked the broker is, too, and says what to do; then it opens")
    func away() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            let daemon = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            await first.stop()
            await daemon.stop()

            let second = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await isLocked(second) == true)
            let unreachable = try await second.ctl(["unlock"])
            #expect(unreachable.status == .exited(4) && unreachable.errors.contains("keyring"), "\(unreachable)")
            _ = try await keyring.run()
            try await keyring.lock()
            let closed = try await second.ctl(["unlock"])
            #expect(closed.status == .exited(4) && closed.errors.contains("keyring is locked"), "\(closed)")
            #expect(try await isLocked(second) == true)
        }
    }

    @Test("a key that is gone from the keyring is told as lost, with what that means; nothing is made in its place")
    func lost() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            await first.stop()
            try await keyring.delete(try #require(try await keyring.item()))
            let before = try Data(contentsOf: URL(filePath: "\(first.stateDirectory)/vault.db"))
            let result = try await runRefused(bed, keyring, on: first.stateDirectory)
            #expect(result.status == .exited(4), "\(result)")
            for part in ["keyring", "tokens are lost", "move vault.db away"] {
                #expect(result.errors.contains(part), "\(result)")
            }
            #expect(try Data(contentsOf: URL(filePath: "\(first.stateDirectory)/vault.db")) == before)
            #expect(try await keyring.item() == nil)
        }
    }
}
