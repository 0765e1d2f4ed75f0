import BrokerTestSupport
import BrokerValues
import Foundation

/// A process of another uid that is connected to the broker.
struct OtherUser: Sendable {
    let uid: UInt32
    private let process: ManagedProcess

    /// Hands the lines of its input to the broker, and prints what comes back.
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
        return OtherUser(uid: uid, process: try bed.start(launch, as: "uid-\(uid)"))
    }

    /// Asks, and does not wait.
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

    func message(_ what: String, where isMeant: @escaping @Sendable (JSONObject) -> Bool) async throws -> JSONObject {
        try await eventually(what) { messages.contains(where: isMeant) }
        return messages.first(where: isMeant) ?? [:]
    }

    /// Everything that came so far.
    var messages: [JSONObject] {
        process.outputText.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(JSONObject.self, from: Data($0.utf8))
        }
    }

    /// The first line that came, of a broker that says why it turns the process away.
    func refusal() async throws -> JSONObject { try await message("a refusal of uid \(uid)") { $0["id"] == .null } }

    func stop() async { await process.stop() }
}
