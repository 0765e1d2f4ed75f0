import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// A vault that cannot be opened is left unchanged, and brokerd ends with status 4.
@Suite("A vault that cannot be opened", .serialized) struct VaultStartTests {
    /// Makes a vault with an app in it, changes it, and expects the broker to refuse it untouched.
    private func refuses(
        in bed: TestBed, saying expected: String, _ spoil: (String) async throws -> Void
    ) async throws -> BrokerProcess {
        let broker = try await BrokerProcess.start(in: bed)
        try await broker.register("notes", clientID: "native", authority: "https://login.example.org/")
        await broker.stop()
        try await spoil(broker.stateDirectory)
        let before = try snapshot(of: broker.stateDirectory)
        let result = try await BrokerProcess.run(in: bed) { $0.stateDirectory = broker.stateDirectory }
        #expect(result.status == .exited(4), "\(result)")
        #expect(result.errors.localizedCaseInsensitiveContains(expected), "\(result)")
        let after = try snapshot(of: broker.stateDirectory)
        for (name, bytes) in before where !name.hasSuffix("-shm") { #expect(after[name] == bytes, "\(name) changed") }
        #expect(!FileManager.default.fileExists(atPath: broker.socket))
        return broker
    }

    @Test("the key of another vault opens nothing, and with its own key everything is available")
    func wrongKey() async throws {
        try await withTestBed { bed in
            let other = try await BrokerProcess.start(in: bed)
            await other.stop()
            let kept = bed.path("kept.key")
            let broker = try await refuses(in: bed, saying: "key") { directory in
                try FileManager.default.moveItem(atPath: "\(directory)/vault.key", toPath: kept)
                try FileManager.default.copyItem(
                    atPath: "\(other.stateDirectory)/vault.key", toPath: "\(directory)/vault.key")
            }
            try FileManager.default.removeItem(atPath: "\(broker.stateDirectory)/vault.key")
            try FileManager.default.moveItem(atPath: kept, toPath: "\(broker.stateDirectory)/vault.key")
            let again = try await BrokerProcess.start(in: bed) { $0.stateDirectory = broker.stateDirectory }
            #expect(try await again.call("apps.list")[path: "apps"].arrayValue?.count == 1)
        }
    }

    @Test("a restored older vault is served and reported as old, until the person accepts it")
    func rolledBack() async throws {
        try await withTestBed { bed in
            let session = try bed.makeDirectory("session")
            func start(_ state: String? = nil) async throws -> BrokerProcess {
                try await BrokerProcess.start(in: bed) {
                    $0.stateDirectory = state
                    $0.wrapper = ["/usr/bin/env", "XDG_RUNTIME_DIR=\(session)"]
                }
            }
            var broker = try await start()
            let file = "\(broker.stateDirectory)/vault.db"
            try await broker.register("notes", clientID: "native", authority: "https://login.example.org/")
            await broker.stop()
            let kept = try Data(contentsOf: URL(filePath: file))
            broker = try await start(broker.stateDirectory)
            try await broker.register("mail", clientID: "native", authority: "https://login.example.org/")
            await broker.stop()
            try kept.write(to: URL(filePath: file))

            broker = try await start(broker.stateDirectory)
            #expect(try await broker.call("broker.status")[path: "vault.rolledBack"] == true)
            #expect(try await broker.call("apps.list")[path: "apps"].arrayValue?.count == 1)
            #expect(try await broker.ctl(["status"]).output.contains("brokerctl doctor"))
            #expect(try await broker.ctl(["doctor"]).output.contains("accept-restore"))
            #expect(try await broker.ctl(["cache", "accept-restore"]).status == .exited(0))
            await broker.stop()
            broker = try await start(broker.stateDirectory)
            #expect(try await broker.call("broker.status")[path: "vault.rolledBack"] == false)
            #expect(try await broker.ctl(["cache", "accept-restore"]).output.contains("nothing to accept"))
        }
    }

    @Test("a vault without its key is not treated as a new one")
    func missingKey() async throws {
        try await withTestBed { bed in
            let broker = try await refuses(in: bed, saying: "vault.key") { directory in
                try FileManager.default.removeItem(atPath: "\(directory)/vault.key")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(broker.stateDirectory)/vault.key"))
        }
    }

    @Test("a key that others can read is refused")
    func openKey() async throws {
        try await withTestBed { bed in
            _ = try await refuses(in: bed, saying: "vault.key") { directory in
                #expect(chmod("\(directory)/vault.key", 0o644) == 0)
            }
        }
    }

    @Test("a vault of a newer format is left for the broker that wrote it")
    func newerFormat() async throws {
        try await withTestBed { bed in
            _ = try await refuses(in: bed, saying: "later version") { directory in
                // SQLite keeps the user version in bytes 60 to 63 of the file.
                let file = try FileHandle(forUpdating: URL(filePath: "\(directory)/vault.db"))
                try file.seek(toOffset: 60)
                try file.write(contentsOf: Data([0, 0, 0, 99]))
                try file.close()
            }
        }
    }

    @Test("a truncated vault is reported as damaged, not treated as new", arguments: [0, 50, 5000])
    func truncated(length: UInt64) async throws {
        try await withTestBed { bed in
            _ = try await refuses(in: bed, saying: "vault.db") { directory in
                let file = try FileHandle(forUpdating: URL(filePath: "\(directory)/vault.db"))
                try file.truncate(atOffset: length)
                try file.close()
            }
        }
    }

    @Test("a state directory that others may enter is not used")
    func openDirectory() async throws {
        try await withTestBed { bed in
            _ = try await refuses(in: bed, saying: "chmod 700") { directory in #expect(chmod(directory, 0o755) == 0) }
        }
    }
}
