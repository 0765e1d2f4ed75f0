import Glibc

/// Checks whether a door answers.
package enum DoorProbe {
    private static let patience = Duration.seconds(2)
    /// oidc-agent's plain exchange.
    private static let question = Array(#"{"request":"check"}"#.utf8)
    private static let good = Array(#""status":"success""#.utf8)

    /// - Parameter path: the socket for programs that use oidc-agent's protocol.
    /// - Returns: the problem, as the end of a sentence; `nil` if it answers correctly.
    package static func trouble(atAgentSocket path: String) -> String? {
        let stream: StreamSocket
        do throws(ConnectFailure) {
            stream = try StreamSocket.connect(to: SocketLocation(path: path), waitingForRoom: patience)
        } catch {
            switch error {
            case .notRunning: return "nobody listens there"
            case .untrusted(let uid): return "it belongs to another user (uid \(uid))"
            default: return "no connection is possible"
            }
        }
        defer { close(stream.descriptor) }
        let answer = ask(stream)
        guard !answer.isEmpty else { return "there is no answer" }
        return answer.indices.contains { answer[$0...].starts(with: good) } ? nil : "another program answers there"
    }

    private static func ask(_ stream: StreamSocket) -> [UInt8] {
        let deadline = ContinuousClock.now + patience
        guard case .bytes(question.count) = question.withUnsafeBytes(stream.send) else { return [] }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while answer.count < 1 << 16, stream.wait(for: Int16(POLLIN), until: deadline) {
            switch chunk.withUnsafeMutableBytes(stream.receive(into:)) {
            case .bytes(let count): answer += chunk[..<count]
            case .wouldBlock: continue
            case .ended: return answer
            }
        }
        return answer
    }
}
