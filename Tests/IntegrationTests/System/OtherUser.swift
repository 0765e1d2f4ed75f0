import BrokerTestSupport
import BrokerValues
import Foundation
import Synchronization

/// A process of another uid that is connected to the broker.
struct OtherUser: Sendable {
    let uid: UInt32
    private let process: ManagedProcess
    private let received: ReceivedMessages

    /// Sends the lines of its input to the broker, and prints the answers.
    private static let relay = """
        import os, socket, sys, threading
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        def back():
            while more := connection.recv(65536):
                os.write(1, more)
            os._exit(0)
        threading.Thread(target=back).start()
        while more := os.read(0, 65536):
            connection.sendall(more)
        connection.shutdown(socket.SHUT_WR)
        """

    static func connect(_ uid: UInt32, to socket: String, in bed: TestBed) throws -> OtherUser {
        let launch = Launch(
            "setpriv",
            ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "--", "/usr/bin/python3", "-c", relay, socket],
            hasInput: true)
        let process = try bed.start(launch, as: "uid-\(uid)")
        return OtherUser(uid: uid, process: process, received: ReceivedMessages(from: process.output))
    }

    /// Sends a request, and does not wait.
    func send(_ method: String, _ params: JSONObject, id: String) throws {
        let request: JSONObject = [
            "jsonrpc": "2.0", "id": .string(id), "method": .string(method), "params": .object(params),
        ]
        try process.write(String(decoding: try JSONEncoder().encode(request), as: UTF8.self) + "\n")
    }

    func answer(to id: String) async throws -> JSONObject {
        try await message("the answer \(id) to uid \(uid)") { $0["id"] == .string(id) }
    }

    /// - Returns: the whole answer, error or result.
    @discardableResult
    func ask(_ method: String, _ params: JSONObject = [:]) async throws -> JSONObject {
        let id = UUID().uuidString
        try send(method, params, id: id)
        return try await answer(to: id)
    }

    func message(_ what: String, where matches: @escaping @Sendable (JSONObject) -> Bool) async throws -> JSONObject {
        try await awaited(what) { messages.first(where: matches) }
    }

    /// Everything that has arrived so far.
    var messages: [JSONObject] { received.all }

    /// The first received line, from a broker that says why it refuses the process.
    func refusal() async throws -> JSONObject { try await message("a refusal of uid \(uid)") { $0["id"] == .null } }

    /// Waits until the broker has closed the connection.
    func ended() async { _ = await process.exitStatus() }

    func stop() async { await process.stop() }
}

/// The lines of a growing file, each read once: the caller polls.
private final class ReceivedMessages: Sendable {
    private struct State {
        var offset: UInt64 = 0
        var messages: [JSONObject] = []
    }

    private let file: URL
    private let state = Mutex(State())

    init(from file: URL) { self.file = file }

    var all: [JSONObject] {
        state.withLock { state in
            guard let handle = try? FileHandle(forReadingFrom: file) else { return state.messages }
            defer { try? handle.close() }
            try? handle.seek(toOffset: state.offset)
            // The last line may be incomplete.
            guard let data = try? handle.readToEnd(), let end = data.lastIndex(of: 0x0a) else { return state.messages }
            for line in data[..<end].split(separator: 0x0a) {
                guard let message = try? JSONDecoder().decode(JSONObject.self, from: line) else { continue }
                state.messages.append(message)
            }
            state.offset += UInt64(end - data.startIndex + 1)
            return state.messages
        }
    }
}
