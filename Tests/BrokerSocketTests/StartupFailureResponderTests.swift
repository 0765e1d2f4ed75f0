import BrokerSocket
import BrokerTestSupport
import Foundation
import Glibc
import Testing

@Suite("Clients of several sockets that wait for a broker that cannot start")
struct StartupFailureResponderTests {
    @Test("are each told in the words of their socket, whichever of them waits")
    func words() async throws {
        try await withTestBed { bed in
            let paths = [bed.path("one.sock"), bed.path("two.sock")]
            let sockets = try paths.map { try ListeningSocket.bind(SocketPlace(path: $0)) }
            let second = try await LineClient.connect(to: paths[1])
            let first = try await LineClient.connect(to: paths[0])
            let again = try await LineClient.connect(to: paths[1])
            dismiss(sockets.map(\.descriptor))
            #expect(try await first.readToEnd() == "one\n")
            #expect(try await second.readToEnd() == "two\n")
            #expect(try await again.readToEnd() == "two\n")
        }
    }

    @Test("of another user are told nothing")
    func others() async throws {
        try await withTestBed { bed in
            let socket = try ListeningSocket.bind(SocketPlace(path: bed.path("one.sock")))
            let client = try await LineClient.connect(to: bed.path("one.sock"))
            dismiss([socket.descriptor], servedUID: geteuid() + 1)
            #expect(try await client.readToEnd().isEmpty)
        }
    }

    private func dismiss(_ listeners: [Int32], servedUID: uid_t = geteuid()) {
        var queue = StartupFailureResponder(listeners, servedUID: servedUID)
        // It cannot be copied, as a macro would.
        let waits = queue.hasClient(within: .seconds(5))
        #expect(waits)
        queue.answerAll { $0 == listeners[0] ? Array("one\n".utf8) : Array("two\n".utf8) }
        let waitStill = queue.hasClient(within: .zero)
        #expect(!waitStill)
    }
}
