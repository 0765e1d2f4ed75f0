import BrokerTestSupport
import Foundation
import Testing

/// A program whose path is unreadable as text, or nearly so.
@Suite("Callers with odd names")
struct OddCallerTests {
    @Test("they are answered, and others still see the audit log and the list of callers")
    func marks() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let folder = try bed.makeDirectory("a" + String(repeating: "\u{301}\u{327}", count: 20))
            let program = "\(folder)/brokerctl"
            try FileManager.default.copyItem(atPath: try PackageTree.program("brokerctl"), toPath: program)
            let place = ["--socket", scene.broker.socket]
            let odd = try await bed.run(Launch(program, place + ["status", "--callers"]))
            #expect(odd.status == .exited(0), "\(odd)")
            // It has no token there, and its request is in the same block of the log as others' actions.
            let asking = try await bed.run(Launch(program, place + ["token", "--app", "notes"]))
            #expect(asking.status == .exited(4), "\(asking)")
            let holder = try bed.start(Launch(program, place + ["watch"]), as: "odd-caller")
            try await holder.waitForText("Watching")
            #expect(try await scene.broker.ctl(["status", "--callers"]).status == .exited(0))
            let audit = try await scene.broker.ctl(["audit"])
            #expect(audit.status == .exited(0) && audit.output.contains("apps.register"), "\(audit)")
        }
    }
}
