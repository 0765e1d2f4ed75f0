import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("The client's trust in the broker")
struct TrustTests {
    private func status(_ path: String, patience: Duration = .seconds(3)) async -> BrokerClientError? {
        let connection = BrokerConnection(location: SocketLocation(path: path), patience: patience)
        return await connection.failure(of: GetBrokerStatus.self, .init())
    }

    @Test("without a socket the error names the place, and how to start the broker where systemd does")
    func missing() async throws {
        let error = await status("/nonexistent/broker.sock")
        #expect(error?.code == .brokerNotAvailable)
        #expect(error?.message.contains("/nonexistent/broker.sock") == true)
        let usual = SocketLocation.resolve(environment: { $0 == "BROKER_SOCKET" ? nil : SocketLocation.variable($0) })
        let advice = BrokerClientError(.notRunning, usual).message
        #expect(advice.contains("systemctl") && error?.message.contains("systemctl") == false)
        #expect(error?.isRetryable == true)
    }

    @Test("a socket without a listener is reported as no broker")
    func deserted() async throws {
        let path = try ScriptedBroker.newPath()
        let broker = try ScriptedBroker(path: path) { $0.waitForEnd() }
        try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
        defer { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
        broker.stop()
        var error = await status(path + ".kept")
        while error?.code == .connectionLost { error = await status(path + ".kept") }
        #expect(error?.code == .brokerNotAvailable)
    }

    @Test("a path too long for a socket address is refused, not truncated")
    func tooLong() async throws {
        let directory = "/tmp/broker-test-\(UUID().uuidString)-" + String(repeating: "d", count: 80)
        let path = directory + "/broker.sock"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        // The socket exists; only its name is too long for connecting.
        let broker = try ScriptedBroker { $0.waitForEnd() }
        try FileManager.default.moveItem(atPath: broker.path, toPath: path)
        let error = await status(path)
        #expect(error?.code == .brokerNotAvailable)
        #expect(error?.message.contains("too long") == true)
    }

    @Test("a file in the socket's place is reported as no broker")
    func file() async throws {
        let path = try ScriptedBroker.newPath()
        defer { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        let error = await status(path)
        #expect(error?.code == .brokerNotAvailable)
        #expect(error?.message.contains("not a socket") == true)
    }

    @Test("a socket of another user is not written to", .enabled(if: geteuid() == 0, "needs root to give a file away"))
    func foreignFile() async throws {
        let seen = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            seen.add("connected")
            peer.waitForEnd()
        }
        #expect(chown(broker.path, 12_345, 0) == 0)
        let error = await status(broker.path)
        #expect(error?.code == .brokerNotTrusted)
        #expect(error?.message.contains("12345") == true)
        #expect(chown(broker.path, 0, 0) == 0)
        async let _ = status(broker.path)
        #expect(await seen.next() == "connected")
        broker.stop()
    }

    @Test(
        "a listener of another user behind a socket of one's own is not written to",
        .enabled(if: geteuid() == 0, "needs root to run a process as somebody else"))
    func foreignListener() async throws {
        // The other user must get there, and to nothing else of the test's.
        let path = try ScriptedBroker.newPath()
        let directory = (path as NSString).deletingLastPathComponent
        defer { try? FileManager.default.removeItem(atPath: directory) }
        #expect(chown(directory, 12_345, 0) == 0)
        let script = """
            import os, socket, sys
            os.setgid(12345); os.setuid(12345)
            s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(8)
            print("listening", flush=True)
            s.accept()[0].recv(1)
            """
        try await withTestBed { bed in
            let listener = try bed.start(Launch("/usr/bin/python3", ["-c", script, path]), as: "listener")
            try await listener.waitForText("listening")
            #expect(chown(path, 0, 0) == 0)
            let error = await status(path)
            #expect(error?.code == .brokerNotTrusted)
        }
    }
}
