import BrokerSocket
import BrokerTestSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("A reactor that is stuck for a moment")
struct StuckReactorTests {
    /// A client whose line holds up the reactor until the gate opens.
    private func withStuckReactor(
        limits: (inout ConnectionLimits) -> Void = { _ in },
        _ body: (ListenerBed, ScriptedService, LineClient, DispatchSemaphore) async throws -> Void
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let service = ScriptedService(onLine: { line, connection in
            if line == "wait" { gate.wait() }
            connection.say(line)
        })
        try await withListener(service, limits: limits) { bed in
            let client = try await bed.connect()
            #expect(try await client.ask("first") == "first")
            try await client.sendLine("wait")
            try await eventually("the reactor is stuck") { service.counts.received == 2 }
            defer { gate.signal() }
            try await body(bed, service, client, gate)
        }
    }

    @Test("has no heartbeat until it goes on")
    func heartbeat() async throws {
        try await withStuckReactor { (bed, _, client, gate) async throws in
            let isOpen = Atomic(false)
            let beat = Task { [listener = bed.listener] in
                try await listener.heartbeat()
                return isOpen.load(ordering: .relaxed)
            }
            // One that does not ask the reactor is over by then.
            for _ in 0..<100 { await Task {}.value }
            isOpen.store(true, ordering: .relaxed)
            gate.signal()
            #expect(try await beat.value)
            #expect(try await client.readLine() == "wait")
        }
    }

    @Test("gives a place to a client that connects after another has hung up, which it has not seen yet")
    func hungUp() async throws {
        try await withStuckReactor(limits: {
            $0.connections = 1
            $0.reserve = 0
        }) { (bed, _, client, gate) async throws in
            await client.close()
            let another = try await bed.connect()
            try await another.sendLine("let me in")
            gate.signal()
            #expect(try await another.readLine() == "let me in")
            let refused = try await bed.connect()
            #expect(try await refused.readToEnd() == "too many 1\n")
        }
    }

    @Test("knows the writer of a line that came on a connection before it accepted that")
    func early() async throws {
        try await withStuckReactor { (bed, service, _, gate) async throws in
            let path = bed.bed.path("early.sock")
            let socket = try ListeningSocket.bind(SocketPlace(path: path))
            let early = try await LineClient.connect(to: path)
            try await early.sendLine("early")
            async let another = bed.listener.startAnother(socket, service: service)
            gate.signal()
            #expect(try await early.readLine() == "early")
            try await another.shutDown(within: .zero)
        }
    }
}
