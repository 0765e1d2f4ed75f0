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
    static let login = "/org/freedesktop/secrets/collection/login"

    func call(_ arguments: [String]) async throws -> CommandResult {
        try await bed.run(Launch("busctl", ["--address=\(address)"] + arguments))
    }

    /// Like a login, while the daemon runs.
    func unlock() async throws { try await helper(["unlock", Self.login, Self.password]) }

    /// Makes a keyring without a password the default one.
    /// - Returns: its path.
    func makeOpen() async throws -> String {
        try await helper(["open"]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @discardableResult
    private func helper(_ arguments: [String]) async throws -> String {
        let result = try await bed.run(
            Launch(
                "/usr/bin/python3", [PackageTree.fixture("gnome-keyring.py")] + arguments, environment: environment))
        try #require(result.succeeded, "\(result)")
        return result.output
    }

    func lock(_ collection: String = login) async throws {
        let result = try await call(
            [
                "call", Self.service, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "Lock", "ao", "1",
                collection,
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

@Suite("A key in the person's keyring, with a real GNOME Keyring", .serialized)
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

    @Test("the key moves there and back, the vault opens with it, and no key file remains")
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
            #expect(try await second.isLocked() == false)
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
            let back = try await second.ctl(["key", "set-source", "key-file"])
            #expect(back.status == .exited(0), "\(back)")
            #expect(try await keyring.item() == nil, "the key that is of no use any more is gone")
            await second.stop()
            let third = try await BrokerProcess.start(in: bed) { $0.stateDirectory = first.stateDirectory }
            #expect(try await third.ctl(["apps", "list"]).output.contains("notes"))
        }
    }

    @Test("a new vault uses the keyring if it is first in the order, and the next source if it is unavailable")
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

    @Test("a broker that started before its keyring opens by itself when that starts")
    func away() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            let daemon = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            await first.stop()
            await daemon.stop()

            let second = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await second.isLocked() == true)
            let unreachable = try await second.ctl(["unlock"])
            #expect(unreachable.status == .exited(4) && unreachable.errors.contains("keyring"), "\(unreachable)")
            _ = try await keyring.run()
            try await second.opensByItself()
        }
    }

    @Test("a broker with a locked keyring says so, and opens by itself when the keyring is unlocked")
    func locked() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            await first.stop()
            try await keyring.lock()

            let second = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await second.isLocked() == true)
            let closed = try await second.ctl(["unlock"])
            #expect(closed.status == .exited(4) && closed.errors.contains("keyring is locked"), "\(closed)")
            #expect(try await second.isLocked() == true)
            try await keyring.unlock()
            try await second.opensByItself()
        }
    }

    @Test("a broker that a person locked stays locked, regardless of the keyring")
    func lockedByPerson() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            await first.stop()
            try await keyring.lock()
            let broker = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await broker.ctl(["lock"]).status == .exited(0))
            try await keyring.unlock()
            // The broker has handled the change when a second broker that was created later has opened.
            let other = try await start(bed, keyring, source: "\"secret-service\"")
            #expect(try await other.isLocked() == false)
            #expect(try await broker.isLocked() == true)
            #expect(try await broker.ctl(["unlock"]).status == .exited(0))
            #expect(try await broker.isLocked() == false)
        }
    }

    @Test("a keyring without a password is unlocked by the broker that needs it")
    func withoutPassword() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let open = try await keyring.makeOpen()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            await first.stop()
            try await keyring.lock(open)
            let second = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await second.isLocked() == false)
        }
    }

    @Test(
        "a key missing from the keyring leaves the broker locked and the vault unchanged, without a new key"
    )
    func lost() async throws {
        try await withTestBed { bed in
            let keyring = try await Keyring.start(in: bed)
            _ = try await keyring.run()
            let first = try await start(bed, keyring, source: "\"secret-service\"")
            await first.stop()
            try await keyring.delete(try #require(try await keyring.item()))
            let before = try Data(contentsOf: URL(filePath: "\(first.stateDirectory)/vault.db"))
            let broker = try await start(bed, keyring, on: first.stateDirectory)
            #expect(try await broker.isLocked() == true)
            let result = try await broker.ctl(["unlock"])
            #expect(result.status == .exited(4), "\(result)")
            for part in ["another keyring", "backup of the keyring", "Keep vault.db"] {
                #expect(result.errors.contains(part), "\(result)")
            }
            #expect(!result.errors.contains("move vault.db away"), "\(result)")
            #expect(try Data(contentsOf: URL(filePath: "\(first.stateDirectory)/vault.db")) == before)
            #expect(try await keyring.item() == nil)
        }
    }
}
