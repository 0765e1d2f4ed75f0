import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Grants of one broker for many users", .needsRoot) struct SystemGrantTests {
    @Test("a program's path, which identifies no caller here, gets no grant, but a unit does")
    func grants() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let one = try await scene.member(12_001)
            for tier in ["unknown", "systemInstalled"] {
                let caller: JSONValue = ["tier": .string(tier), "id": "/usr/bin/curl"]
                let refused = try await one.ask("grants.approve", ["caller": caller, "app": "notes"])
                #expect(refused[path: "error.data.kind"] == "invalidParameter", "\(refused)")
                #expect(refused.text("error.message").contains("system:NAME.service"))
            }
            let unit: JSONValue = ["tier": "systemInstalled", "id": "system:backup.service"]
            #expect(try await one.ask("grants.approve", ["caller": unit, "app": "notes"])["result"] != nil)
        }
    }
}
