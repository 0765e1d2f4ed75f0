import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The clients of a broker that cannot start, if the socket is systemd's: it starts brokerd as long as one waits.
@Suite("A broker that cannot start", .serialized) struct StartTests {
    private static let mistake = "[log]\nlevle = \"debug\"\n"

    /// A socket that outlives its server: as with systemd, a brokerd is started whenever a client waits there.
    private struct Service {
        let socket: ServiceSocket
        let stateDirectory: String
        /// The configuration file; it may be rewritten.
        let file: String
        private(set) var broker: BrokerProcess
        private let bed: TestBed

        /// Starts the first broker for a waiting client, which learns why it cannot start.
        init(in bed: TestBed, _ configuration: String, stateDirectory: String? = nil) async throws {
            let socket = try ServiceSocket(path: bed.path("broker.sock"))
            let state = try stateDirectory ?? bed.makeDirectory("state")
            let client = try await LineClient.connect(to: socket.path)
            broker = try await BrokerProcess.start(in: bed) {
                $0.activated = socket
                $0.configuration = configuration
                $0.stateDirectory = state
            }
            (self.socket, self.bed, self.stateDirectory) = (socket, bed, state)
            file = try #require(broker.configurationFile)
            let answer = try #require(try await client.readLine())
            #expect(answer.contains("notStarted") && answer.contains("\"id\":null"), "\(answer)")
            await client.close()
        }

        /// Runs `brokerctl status` to its end. The broker may have ended just before, because no client had waited for three
        /// seconds; then another one is started.
        mutating func status() async throws -> (status: BrokerTestSupport.ExitStatus, errors: String) {
            let asking = try broker.startCtl(["status"])
            try await eventually("brokerctl is answered") {
                if !broker.process.isRunning, socket.hasClient {
                    let (socket, file, state) = (socket, file, stateDirectory)
                    broker = try await BrokerProcess.start(in: bed) {
                        $0.activated = socket
                        $0.arguments = ["--config", file]
                        $0.stateDirectory = state
                    }
                }
                return !asking.isRunning
            }
            return (await asking.exitStatus(), asking.errorText)
        }
    }

    @Test("each waiting client gets the mistake, and without one the broker ends with status 2")
    func told() async throws {
        try await withTestBed { bed in
            var service = try await Service(in: bed, Self.mistake)
            let result = try await service.status()
            #expect(result.status == .exited(3), "\(result)")
            #expect(result.errors.contains("broker.toml:2: there is no setting log.levle"), "\(result)")
            #expect(result.errors.contains("did you mean log.level?"), "\(result)")
            #expect(await service.broker.process.exitStatus() == .exited(2))
        }
    }

    @Test("after the mistake is corrected, the next request is answered")
    func mended() async throws {
        try await withTestBed { bed in
            var service = try await Service(in: bed, Self.mistake)
            #expect(try await service.status().status == .exited(3))
            try "".write(toFile: service.file, atomically: true, encoding: .utf8)
            #expect(try await service.status().status == .exited(0))
            #expect(service.broker.process.isRunning)
        }
    }

    @Test("a missing key and a missing authority file are handled in the same way")
    func key() async throws {
        try await withTestBed { bed in
            let first = try await BrokerProcess.start(in: bed)
            await first.stop()
            let key = first.stateDirectory + "/vault.key"
            try FileManager.default.moveItem(atPath: key, toPath: bed.path("kept"))
            let mistake = "[oauth]\nca_file = \"\(bed.path("ca.pem"))\"\n"
            var service = try await Service(in: bed, mistake, stateDirectory: first.stateDirectory)
            #expect(try await service.status().errors.contains("ca.pem"))
            try "".write(toFile: service.file, atomically: true, encoding: .utf8)
            #expect(try await service.status().errors.contains("vault.key"))
            try FileManager.default.moveItem(atPath: bed.path("kept"), toPath: key)
            #expect(try await service.status().status == .exited(0))
            #expect(service.broker.process.isRunning)
        }
    }

    @Test("a client that sends nothing and one that never hangs up delay no other")
    func silent() async throws {
        try await withTestBed { bed in
            var service = try await Service(in: bed, Self.mistake)
            let idle = try await LineClient.connect(to: service.socket.path)
            #expect(try await service.status().status == .exited(3))
            #expect(await service.broker.process.exitStatus() == .exited(2))
            await idle.close()
        }
    }

    @Test("without a waiting client, or with its own socket, the broker ends at once")
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

    @Test("without required parts of OpenSSL the broker does not start, and says where to look")
    func withoutAlgorithms() async throws {
        try await withTestBed { bed in
            let file = bed.path("openssl.cnf")
            try "openssl_conf = all\n[all]\nalg_section = algorithms\n[algorithms]\ndefault_properties = fips=yes\n"
                .write(toFile: file, atomically: true, encoding: .utf8)
            // The machine's own file has this content for this broker, which ignores OPENSSL_CONF (decision 3).
            let system = "/etc/ssl/openssl.cnf"
            let result = try await BrokerProcess.run(in: bed) {
                $0.wrapper = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", file, system, "--"]
            }
            #expect(result.status == .exited(1) && result.errors.contains(system), "\(result)")
        }
    }
}
