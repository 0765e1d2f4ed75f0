import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A full disk", .needsRoot) struct DiskFullTests {
    @Test("on a full disk a rotated token is still returned, and written as soon as there is room")
    func rotation() async throws {
        try await withTestBed { bed in
            let disk = try await SmallDisk.make(in: bed)
            let onDisk: (inout BrokerProcess.Options) -> Void = { options in
                options.stateDirectory = "\(disk.path)/state"
                options.wrapper = ["nsenter", "--mount", "--target", "\(disk.keeper.pid)", "--"]
            }
            var scene = try await DevelopmentScene.make(in: bed, options: onDisk)
            let signIn = try await scene.signIn()

            try disk.fill()
            let refreshed = try await scene.silent(["forceRefresh": true])
            #expect(refreshed[path: "persisted"] == false)
            #expect(refreshed[path: "accessToken"] != .string(signIn.accessToken))
            // It is served from memory, and the rotation continues from there.
            let again = try await scene.silent(["forceRefresh": true])
            #expect(again[path: "persisted"] == false)
            #expect(scene.provider.refreshes == 2)

            // The old state is complete: a broker that finds it unchanged opens it. (A copy, because this one is in use.)
            let copy = bed.path("copy")
            try FileManager.default.copyItem(atPath: "\(disk.outside)/state", toPath: copy)
            let other = try await BrokerProcess.start(in: bed) { $0.stateDirectory = copy }
            let old = try await other.acquireSilent(app: "notes", scopes: [DevelopmentScene.scope])
            #expect(old[path: "accessToken"] == .string(signIn.accessToken))
            await other.stop()

            try disk.free()
            let broker = scene.broker
            try await eventually("the broker writes what it owes") {
                let token = try await broker.acquireSilent(app: "notes", scopes: [DevelopmentScene.scope])
                return token[path: "persisted"] == true
            }
            // Killed, so that it cannot write at its end: the next one finds only earlier data.
            await scene.broker.kill()
            try await scene.startAgain(onDisk)
            #expect(try await scene.silent()[path: "accessToken"] == again[path: "accessToken"])
            #expect(try await scene.silent(["forceRefresh": true])[path: "persisted"] == true)
        }
    }
}
