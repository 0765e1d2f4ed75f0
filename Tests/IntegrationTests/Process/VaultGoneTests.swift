import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The key's folder remembers a vault.
@Suite("A replaced or missing vault, whose key is present", .serialized)
struct VaultGoneTests {
    /// A broker with its vault and its key in the default places, in a separate login.
    private func start(_ bed: TestBed) async throws -> BrokerProcess {
        let session = try bed.makeDirectory("session")
        return try await BrokerProcess.start(in: bed) { options in
            options.stateDirectory = state(bed)
            options.namesStateDirectory = false
            options.wrapper = ["/usr/bin/env", "XDG_RUNTIME_DIR=\(session)"]
        }
    }

    private func state(_ bed: TestBed) -> String { bed.path(".local/state/brokerd") }

    private func register(_ app: String, at broker: BrokerProcess) async throws {
        try await broker.register(app, clientID: "native", authority: "https://login.example.org/")
    }

    /// As of vaults that were there before, and whose keys are gone.
    private func leaveEarlierAnchors(_ bed: TestBed) throws {
        let keys = bed.path(".local/share/brokerd-key")
        let names = try FileManager.default.contentsOfDirectory(atPath: keys)
        let anchor = try #require(names.first { $0.hasPrefix("anchor-") })
        for number in 16..<48 {
            let name = "anchor-" + String(repeating: String(number, radix: 16), count: 16)
            try FileManager.default.copyItem(atPath: "\(keys)/\(anchor)", toPath: "\(keys)/\(name)")
        }
    }

    @Test("an earlier vault is noticed after a log-out, too")
    func afterLogOut() async throws {
        try await withTestBed { bed in
            let file = URL(filePath: "\(state(bed))/vault.db")
            var broker = try await start(bed)
            try await register("notes", at: broker)
            await broker.stop()
            let kept = try Data(contentsOf: file)
            broker = try await start(bed)
            #expect(try await broker.call("broker.status")[path: "vault.rolledBack"] == false)
            try await register("mail", at: broker)
            await broker.stop()
            try kept.write(to: file)

            broker = try await start(bed)
            #expect(try await broker.call("broker.status")[path: "vault.rolledBack"] == true)
            #expect(try await broker.ctl(["cache", "accept-restore"]).status == .exited(0))
            await broker.stop()
            broker = try await start(bed)
            #expect(try await broker.call("broker.status")[path: "vault.rolledBack"] == false)
        }
    }

    @Test("a missing vault is not replaced by an empty one, and opens with its key when it is restored")
    func gone() async throws {
        try await withTestBed { bed in
            let file = "\(state(bed))/vault.db"
            var broker = try await start(bed)
            try await register("notes", at: broker)
            await broker.stop()
            try FileManager.default.moveItem(atPath: file, toPath: bed.path("kept"))
            try leaveEarlierAnchors(bed)

            let refusal = try await BrokerProcess.run(in: bed) {
                $0.stateDirectory = state(bed)
                $0.namesStateDirectory = false
            }
            #expect(refusal.status == .exited(4), "\(refusal)")
            #expect(refusal.errors.contains("\(file) is gone"), "\(refusal)")
            #expect(!FileManager.default.fileExists(atPath: file))

            try FileManager.default.moveItem(atPath: bed.path("kept"), toPath: file)
            broker = try await start(bed)
            #expect(try await broker.call("apps.list")[path: "apps"].arrayValue?.count == 1)
            await broker.stop()

            try FileManager.default.removeItem(atPath: file)
            let anchor = try #require(refusal.errors.split(separator: " ").first { $0.contains("/anchor-") })
            try FileManager.default.removeItem(atPath: anchor.trimmingCharacters(in: ["\n", "."]))
            broker = try await start(bed)
            #expect(try await broker.call("apps.list")[path: "apps"].arrayValue?.isEmpty == true)
        }
    }
}
