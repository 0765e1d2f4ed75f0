import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// KeePassXC without a display, with a database that it offers as a keyring.
private struct KeePassXC {
    private static let password = "database-password"
    private static let settings = """
        [General]
        ConfigVersion=2
        UpdateCheckMessageShown=true
        [GUI]
        CheckForUpdates=false
        [FdoSecrets]
        Enabled=true
        ShowNotification=false
        ConfirmAccessItem=false
        """
    /// The group that it offers is named in the database.
    private static let database = """
        <?xml version="1.0" encoding="UTF-8"?>
        <KeePassFile><Meta><DatabaseName>keys</DatabaseName><CustomData><Item>
        <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{00000000-0000-0000-0000-000000000001}</Value>
        </Item></CustomData></Meta>
        <Root><Group><UUID>AAAAAAAAAAAAAAAAAAAAAQ==</UUID><Name>Root</Name></Group></Root></KeePassFile>
        """

    private let bed: TestBed
    private let file: String
    let address: String

    /// At first nothing is open.
    static func start(in bed: TestBed) async throws -> KeePassXC {
        let program = KeePassXC(
            bed: bed, file: bed.path("keys.kdbx"), address: try await SessionBus.start(in: bed))
        try await program.makeDatabase()
        let folder = bed.path(".config/keepassxc")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.settings.write(toFile: "\(folder)/keepassxc.ini", atomically: true, encoding: .utf8)
        let process = try bed.start(
            Launch(
                "keepassxc", [],
                environment: [
                    "HOME": bed.directory.path, "XDG_RUNTIME_DIR": bed.directory.path, "TMPDIR": bed.directory.path,
                    "QT_QPA_PLATFORM": "offscreen",
                    "DBUS_SESSION_BUS_ADDRESS": program.address,
                ]))
        try await eventually("KeePassXC offers a keyring") {
            try process.requireRunning()
            return try await program.call(["status", "org.freedesktop.secrets"]).succeeded
        }
        return program
    }

    private func makeDatabase() async throws {
        try Self.database.write(toFile: bed.path("keys.xml"), atomically: true, encoding: .utf8)
        let made = try await bed.run(
            Launch(
                "keepassxc-cli", ["import", "-p", bed.path("keys.xml"), file],
                environment: ["HOME": bed.directory.path, "QT_QPA_PLATFORM": "offscreen"]),
            input: "\(Self.password)\n\(Self.password)\n")
        try #require(made.succeeded, "\(made)")
    }

    func openDatabase() async throws { try await window("openDatabase", "ss", file, Self.password) }

    /// KeePassXC answers before it has opened the database.
    func waitUntilOpen() async throws {
        try await eventually("the database is open") {
            let locked = try await call(
                [
                    "get-property", "org.freedesktop.secrets", "/org/freedesktop/secrets/collection/keys",
                    "org.freedesktop.Secret.Collection", "Locked",
                ])
            return locked.output.contains("b false")
        }
    }

    func closeDatabases() async throws { try await window("closeAllDatabases") }

    private func window(_ method: String, _ arguments: String...) async throws {
        let name = "org.keepassxc.KeePassXC.MainWindow"
        let result = try await call(["call", name, "/keepassxc", name, method] + arguments)
        try #require(result.succeeded, "\(result)")
    }

    private func call(_ arguments: [String]) async throws -> CommandResult {
        try await bed.run(Launch("busctl", ["--address=\(address)"] + arguments))
    }
}

@Suite("A key in KeePassXC", .serialized)
struct KeePassXCTests {
    @Test("a broker that starts while no database is open starts locked, and opens by itself with the database")
    func noDatabase() async throws {
        try await withTestBed { bed in
            let program = try await KeePassXC.start(in: bed)
            func start(on directory: String? = nil) async throws -> BrokerProcess {
                try await BrokerProcess.start(in: bed) { options in
                    options.stateDirectory = directory
                    options.wrapper = ["/usr/bin/env", "DBUS_SESSION_BUS_ADDRESS=\(program.address)"]
                    options.configuration = "[vault]\nkey_source = \"secret-service\"\n"
                }
            }
            try await program.openDatabase()
            try await program.waitUntilOpen()
            let first = try await start()
            try await first.register("notes", clientID: "native", authority: "https://login.example.org/")
            await first.stop()
            try await program.closeDatabases()

            let second = try await start(on: first.stateDirectory)
            #expect(try await second.call("broker.status")["locked"] == true)
            let refused = try await second.ctl(["unlock"])
            #expect(refused.status == .exited(4) && refused.errors.contains("KeePassXC"), "\(refused)")
            #expect(!refused.errors.contains("move vault.db away"), "\(refused)")
            try await program.openDatabase()
            try await eventually("the broker opens by itself") {
                try await second.call("broker.status")["locked"] == false
            }
            #expect(try await second.ctl(["apps", "list"]).output.contains("notes"))
        }
    }
}
