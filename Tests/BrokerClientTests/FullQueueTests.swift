import BrokerClient
import BrokerRPC
import BrokerTestSupport
import Testing

/// A broker that has not accepted any connection for a while: its queue in the kernel is full.
@Suite("A broker whose queue of connections is full")
struct FullQueueTests {
    private let gate = Gate()
    private let broker: ScriptedBroker
    /// They have connected, but are not accepted.
    private let queue: [LineClient]

    init() throws {
        broker = try ScriptedBroker(acceptingAfter: gate) { peer in
            while let request = peer.request() { peer.answer(request, ScriptedAnswers.status) }
        }
        var queue: [LineClient] = []
        while let client = try LineClient.connectAtOnce(to: broker.path) { queue.append(client) }
        self.queue = queue
    }

    @Test("a call waits for room, even with a short time for a broker that restarts")
    func room() async throws {
        let connection = BrokerConnection(location: SocketLocation(path: broker.path), patience: .zero) { [gate] _ in
            gate.open()
        }
        #expect(try await connection.call(GetBrokerStatus.self, .init()).protocol == 1)
    }

    @Test("a program with sequential requests waits as well, and says so")
    func direct() throws {
        let connection = DirectConnection(
            location: SocketLocation(path: broker.path), patience: .zero, tellWaiting: { [gate] in gate.open() })
        #expect(try connection.call(GetBrokerStatus.self, .init()).protocol == 1)
    }

    @Test("the wait for room ends with the request's time limit")
    func bound() throws {
        let connection = DirectConnection(
            location: SocketLocation(path: broker.path), answerTimeout: .milliseconds(50))
        let error = #expect(throws: BrokerClientError.self) { try connection.call(GetBrokerStatus.self, .init()) }
        #expect(error?.code == .brokerNotAvailable && error?.cause as? ConnectFailure == .busy)
        gate.open()
    }
}
