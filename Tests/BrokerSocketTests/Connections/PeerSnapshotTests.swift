import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Dispatch
import Glibc
import Synchronization
import Testing

@Suite("Looking at who connects keeps nobody waiting")
struct PeerSnapshotTests {
    @Test("while one process takes long to be looked at, others are served, and the watchdog has its answer")
    func slow() async throws {
        let (isLooking, mayEnd) = (Promise<Void>(), DispatchSemaphore(value: 0))
        let own = getpid()
        let service = ScriptedService(looking: { peer in
            guard peer.pid == own else { return }
            isLooking.fulfil(())
            mayEnd.wait()
        })
        try await withListener(service) { bed in
            // Neither of this process: the first is looked at, and no more than one of a process at a time.
            let clients = [try await bed.connect(), try await bed.connect(), try await bed.connect()]
            await isLooking.value
            try await bed.listener.heartbeat()
            let other = try await bed.bed.run(
                Launch("/usr/bin/python3", ["-c", Self.asking, bed.path]))
            #expect(other.output.contains("answered"))
            #expect(service.peers.allSatisfy { $0.pid != own })
            for _ in clients { mayEnd.signal() }
            for client in clients { #expect(try await client.ask("mine") == "mine") }
        }
    }

    private static let asking = """
        import socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        connection.sendall(b"answered\\n")
        print(connection.makefile().readline())
        """

    @Test("while many wait to be looked at nobody else is accepted; all are served in the end")
    func many() async throws {
        let mayBegin = DispatchSemaphore(value: 0)
        let service = ScriptedService(looking: { _ in mayBegin.wait() })
        try await withListener(service) { bed in
            var clients: [LineClient] = []
            for _ in 0..<200 { clients.append(try await bed.connect()) }
            try await bed.listener.heartbeat()
            #expect(service.peers.isEmpty)
            for _ in clients { mayBegin.signal() }
            for client in clients { #expect(try await client.ask("mine") == "mine") }
        }
    }
}
