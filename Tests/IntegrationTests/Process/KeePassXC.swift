import BrokerTestSupport
import Foundation
import Testing

/// KeePassXC with its Secret Service on a bus of its own, and a database that it shares there. No screen: its windows are drawn nowhere.
struct KeePassXC {
    private static let word = "database-password"
    private let bed: TestBed
    private let environment: [String: String]
    private let folder: String
    let address: String

    static func make(in bed: TestBed) async throws -> KeePassXC {
        let keyring = KeePassXC(
            bed: bed, folder: try bed.makeDirectory("keepassxc"), address: try await SessionBus.start(in: bed))
        try await keyring.prepare()
        return keyring
    }

    private init(bed: TestBed, folder: String, address: String) {
        self.bed = bed
        self.folder = folder
        self.address = address
        environment = [
            "HOME": folder, "XDG_RUNTIME_DIR": folder, "DBUS_SESSION_BUS_ADDRESS": address, "LC_ALL": "C.UTF-8",
            "QT_QPA_PLATFORM": "offscreen",
        ]
    }

    private var database: String { "\(folder)/passwords.kdbx" }

    private func prepare() async throws {
        // The settings of a person with the Secret Service switched on. Confirmations are off: the test cannot answer them.
        try """
        [General]
        ConfigVersion=2
        SingleInstance=false
        UpdateCheckMessageShown=true
        RememberLastDatabases=false
        OpenPreviousDatabasesOnStartup=false
        [GUI]
        CheckForUpdates=false
        [FdoSecrets]
        Enabled=true
        ShowNotification=false
        ConfirmAccessItem=false
        ConfirmDeleteItem=false
        """.write(toFile: "\(folder)/keepassxc.ini", atomically: true, encoding: .utf8)
        // The database names the shared group.
        try """
        <?xml version="1.0" encoding="UTF-8"?>
        <KeePassFile><Meta><DatabaseName>Passwords</DatabaseName><CustomData><Item>
        <Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{00112233-4455-6677-8899-aabbccddeeff}</Value>
        </Item></CustomData></Meta><Root><Group>
        <UUID>ABEiM0RVZneImaq7zN3u/w==</UUID><Name>Root</Name>
        </Group></Root></KeePassFile>
        """.write(toFile: "\(folder)/passwords.xml", atomically: true, encoding: .utf8)
        let imported = try await bed.run(
            Launch(
                "keepassxc-cli", ["import", "--set-password", "\(folder)/passwords.xml", database],
                environment: environment), input: "\(Self.word)\n\(Self.word)\n")
        try #require(imported.succeeded, "\(imported)")
    }

    /// The program, with no database open.
    func run() async throws -> ManagedProcess {
        let program = try bed.start(
            Launch(
                "keepassxc", ["--config", "\(folder)/keepassxc.ini", "--localconfig", "\(folder)/local.ini"],
                environment: environment), as: "keepassxc")
        try await eventually("KeePassXC serves the bus") {
            try program.requireRunning()
            return try await call("status", "org.freedesktop.secrets").succeeded
        }
        return program
    }

    /// Which file the database is: another one each time that it was saved. While KeePassXC saves, it locks nothing and does not end.
    func saved() -> UInt64? {
        let facts = try? FileManager.default.attributesOfItem(atPath: database)
        return (facts?[.systemFileNumber] as? NSNumber)?.uint64Value
    }

    func open() async throws {
        try await window("openDatabase", "ss", database, Self.word)
        try await eventually("the database is open") { try await isLocked().contains("b false") }
    }

    func lock() async throws {
        try await window("lockAllDatabases")
        try await eventually("the database is locked") { try await isLocked().contains("b true") }
    }

    func close() async throws {
        try await window("closeAllDatabases")
        try await eventually("there is no database") { try await isLocked().isEmpty }
    }

    private func isLocked() async throws -> String {
        try await call(
            "get-property", "org.freedesktop.secrets", "/org/freedesktop/secrets/collection/passwords",
            "org.freedesktop.Secret.Collection", "Locked"
        ).output
    }

    private func window(_ method: String, _ arguments: String...) async throws {
        let name = "org.keepassxc.KeePassXC.MainWindow"
        let result = try await call(["call", name, "/keepassxc", name, method] + arguments)
        try #require(result.succeeded, "\(result)")
    }

    private func call(_ arguments: String...) async throws -> CommandResult { try await call(arguments) }

    private func call(_ arguments: [String]) async throws -> CommandResult {
        try await bed.run(Launch("busctl", ["--address=\(address)"] + arguments))
    }
}
