import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// What becomes of clients whose broker cannot start, when the socket is systemd's: it starts brokerd as long as one waits.
@Suite("A broker that cannot start", .serialized, .timeLimit(.minutes(2))) struct StartTests {
    private static let mistake = "[log]\nlevle = \"debug\"\n"

    /// Starts a brokerd with this configuration for a client that waits at the socket already.
    private func start(
        in bed: TestBed, _ configuration: String, stateDirectory: String? = nil,
        _ body: (BrokerProcess, _ file: String) async throws -> Void
    ) async throws {
        let socket = try ServiceSocket(path: bed.path("broker.sock"))
        let client = try await LineClient.connect(to: socket.path)
        let broker = try await BrokerProcess.start(in: bed) {
            $0.activated = socket
            $0.configuration = configuration
            $0.stateDirectory = stateDirectory
        }
        let answer = try #require(try await client.readLine())
        #expect(answer.contains("notStarted") && answer.contains("\"id\":null"), "\(answer)")
        await client.close()
        try await body(broker, try #require(broker.configurationFile))
    }

    @Test("whoever waits is told the mistake, and nobody waiting is the end; status 2")
    func told() async throws {
        try await withTestBed { bed in
            try await start(in: bed, Self.mistake) { broker, _ in
                let result = try await broker.ctl(["status"])
                #expect(result.status == .exited(3), "\(result)")
                #expect(result.errors.contains("broker.toml:2: there is no setting log.levle"), "\(result)")
                #expect(result.errors.contains("did you mean log.level?"), "\(result)")
                #expect(await broker.process.exitStatus() == .exited(2))
            }
        }
    }

    @Test("when the mistake is mended, the next request is answered")
    func mended() async throws {
        try await withTestBed { bed in
            try await start(in: bed, Self.mistake) { broker, file in
                #expect(try await broker.ctl(["status"]).status == .exited(3))
                try "".write(toFile: file, atomically: true, encoding: .utf8)
                #expect(try await broker.ctl(["status"]).succeeded)
                #expect(broker.process.isRunning)
            }
        }
    }

    @Test("the same with a key that is missing, and with an authority file that is")
    func key() async throws {
        try await withTestBed { bed in
            let first = try await BrokerProcess.start(in: bed)
            await first.stop()
            let key = first.stateDirectory + "/vault.key"
            try FileManager.default.moveItem(atPath: key, toPath: bed.path("kept"))
            let mistake = "[oauth]\nca_file = \"\(bed.path("ca.pem"))\"\n"
            try await start(in: bed, mistake, stateDirectory: first.stateDirectory) { broker, file in
                #expect(try await broker.ctl(["status"]).errors.contains("ca.pem"))
                try "".write(toFile: file, atomically: true, encoding: .utf8)
                #expect(try await broker.ctl(["status"]).errors.contains("vault.key"))
                try FileManager.default.moveItem(atPath: bed.path("kept"), toPath: key)
                #expect(try await broker.ctl(["status"]).succeeded)
                #expect(broker.process.isRunning)
            }
        }
    }

    @Test("a client that says nothing and one that never hangs up hold up nobody")
    func silent() async throws {
        try await withTestBed { bed in
            try await start(in: bed, Self.mistake) { broker, _ in
                let idle = try await LineClient.connect(to: broker.socket)
                #expect(try await broker.ctl(["status"]).status == .exited(3))
                #expect(await broker.process.exitStatus() == .exited(2))
                await idle.close()
            }
        }
    }

    @Test("where nobody waits, and where the socket is the broker's own, it ends at once")
    func alone() async throws {
        try await withTestBed { bed in
            let own = try await BrokerProcess.run(in: bed) { $0.configuration = Self.mistake }
            #expect(own.status == .exited(2) && own.errors.contains("did you mean log.level?"), "\(own)")
            let socket = try ServiceSocket(path: bed.path("broker.sock"))
            let activated = try await BrokerProcess.run(in: bed) {
                $0.configuration = Self.mistake
                $0.activated = socket
            }
            #expect(activated.status == .exited(2), "\(activated)")
        }
    }
}
