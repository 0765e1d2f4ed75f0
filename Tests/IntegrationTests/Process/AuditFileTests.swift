import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Edits by somebody who can write the vault's file and does not have its key.
@Suite("The audit log after edits of the vault's file")
struct AuditFileTests {
    static let edits = [
        "of the same row, from a copy":
            "UPDATE record SET box = (SELECT box FROM old.record o WHERE o.row_key = record.row_key) WHERE kind = 11",
        "of one byte": "UPDATE record SET box = CAST(substr(box, 1, length(box) - 1) || X'00' AS BLOB) WHERE kind = 11",
        "that removes the entries": "DELETE FROM record WHERE kind = 11",
    ]

    @Test("an edit without the vault's key is reported", arguments: Array(edits.keys))
    func edited(_ edit: String) async throws {
        try await after(try #require(Self.edits[edit])) { broker in
            #expect(try await broker.call("audit.list")["intact"] == false)
            let result = try await broker.ctl(["audit"])
            #expect(result.status == .exited(1) && result.errors.contains("audit log was changed"), "\(result)")
        }
    }

    @Test("the removal of the whole log is reported as missing records")
    func removed() async throws {
        try await after("DELETE FROM record WHERE kind IN (11, 12)") { broker in
            _ = try await broker.call("audit.list")
            // They are counted next to the answer.
            try await eventually("the missing records are counted") {
                (try await broker.call("broker.status")[path: "vault.missing"].integerValue ?? 0) >= 2
            }
        }
    }

    private func after(_ edit: String, _ check: (BrokerProcess) async throws -> Void) async throws {
        try await withTestBed { bed in
            let state = try bed.makeDirectory("state")
            var broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
            func restart(_ change: () async throws -> Void) async throws {
                await broker.stop()
                try await change()
                broker = try await BrokerProcess.start(in: bed) { $0.stateDirectory = state }
            }
            try await broker.register("notes", clientID: "c", authority: "https://login.example.org/")
            try await restart {
                try FileManager.default.copyItem(atPath: "\(state)/vault.db", toPath: bed.path("old.db"))
            }
            try await broker.register("mail", clientID: "d", authority: "https://login.example.org/")
            #expect(try await broker.call("audit.list")["intact"] == true)
            #expect(try await broker.call("broker.status")[path: "vault.missing"] == 0)
            let sql = "ATTACH '\(bed.path("old.db"))' AS old; \(edit);"
            try await restart { try await bed.require("sqlite3", ["\(state)/vault.db", sql]) }
            try await check(broker)
        }
    }
}
