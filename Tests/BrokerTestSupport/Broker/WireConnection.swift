import BrokerValues
import Foundation
import Synchronization

/// The broker's error response.
package struct Refusal: Error, Sendable, CustomStringConvertible {
    package var code: Int64
    package var message: String
    package var data: JSONObject

    package var kind: String? { data["kind"]?.stringValue }
    package var reason: String? { data["reason"]?.stringValue }
    package var description: String { "\(code) \(kind ?? "")/\(reason ?? ""): \(message)" }

    package init(_ error: JSONObject) {
        code = error["code"]?.integerValue ?? 0
        message = error["message"]?.stringValue ?? ""
        data = error["data"]?.objectValue ?? [:]
    }
}

/// The broker went away before it answered.
package struct ConnectionEnded: Error {}

/// JSON-RPC over a ``LineClient``, for tests of the real broker: it shares nothing with the broker's own
/// code but the type of a JSON value, which Foundation reads and writes here.
package final class WireConnection: Sendable {
    private let line: LineClient
    private let state = Mutex(State())

    private struct State {
        var lastID: Int64 = 0
        var calls: [Int64: CheckedContinuation<JSONObject, any Error>] = [:]
        var notifications: [JSONObject] = []
        var readers: [CheckedContinuation<JSONObject?, Never>] = []
        var ended = false
    }

    package static func connect(to socket: String) async throws -> WireConnection {
        // It waits as long as the broker may wait for a person.
        WireConnection(try await LineClient.connect(to: socket, patience: 600))
    }

    private init(_ line: LineClient) {
        self.line = line
        Task {
            while let text = try? await line.readLine() { self.take(text) }
            self.end()
        }
    }

    /// Ends the connection; calls that wait fail.
    package func close() async {
        await line.shutDown()
        end()
    }

    /// Calls a method and waits for its result.
    package func call(_ method: String, _ params: JSONObject = [:]) async throws -> JSONObject {
        let answer: JSONObject = try await withCheckedThrowingContinuation { continuation in
            let id: Int64? = state.withLock { state in
                if state.ended { return nil }
                state.lastID += 1
                state.calls[state.lastID] = continuation
                return state.lastID
            }
            guard let id else { return continuation.resume(throwing: ConnectionEnded()) }
            let request: JSONObject = [
                "jsonrpc": "2.0", "id": .integer(id), "method": .string(method), "params": .object(params),
            ]
            Task {
                do {
                    try await line.sendLine(String(decoding: JSONEncoder().encode(request), as: UTF8.self))
                } catch {
                    self.state.withLock { $0.calls.removeValue(forKey: id) }?.resume(throwing: error)
                }
            }
        }
        if let error = answer["error"]?.objectValue { throw Refusal(error) }
        return answer["result"]?.objectValue ?? [:]
    }

    /// The next notification; `nil` if the connection has ended.
    package func nextNotification() async -> JSONObject? {
        await withCheckedContinuation { continuation in
            let ready: JSONObject?? = state.withLock { state in
                if !state.notifications.isEmpty { return .some(state.notifications.removeFirst()) }
                if state.ended { return .some(nil) }
                state.readers.append(continuation)
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    private func take(_ text: String) {
        guard let message = try? JSONDecoder().decode(JSONObject.self, from: Data(text.utf8)) else { return end() }
        if let id = message["id"]?.integerValue {
            state.withLock { $0.calls.removeValue(forKey: id) }?.resume(returning: message)
            return
        }
        let reader: CheckedContinuation<JSONObject?, Never>? = state.withLock { state in
            if !state.readers.isEmpty { return state.readers.removeFirst() }
            state.notifications.append(message)
            return nil
        }
        reader?.resume(returning: message)
    }

    private func end() {
        let (calls, readers) = state.withLock { state in
            state.ended = true
            defer { (state.calls, state.readers) = ([:], []) }
            return (state.calls.values, state.readers)
        }
        for call in calls { call.resume(throwing: ConnectionEnded()) }
        for reader in readers { reader.resume(returning: nil) }
    }
}
