import Foundation
import Glibc
import Synchronization

/// Takes the place of a broker and does exactly what a test scripts, on a real Unix socket: for the cases that a real broker
/// never produces (partial answers, noise, silence, disconnects).
///
/// Each connection runs the script on a separate thread; the connection ends with the script.
package final class ScriptedBroker: Sendable {
    package typealias Script = @Sendable (ScriptedPeer) -> Void

    package let path: String
    private let listener: Int32
    private let isStopped = Mutex(false)
    private let received = Recorder<ScriptedRequest>()

    /// The requests so far, of all connections.
    package var requests: [ScriptedRequest] { received.all }

    /// - Parameters:
    ///   - path: the socket's path; a socket in a new directory by default.
    ///   - gate: while it is closed, connections wait in the kernel's queue.
    ///   - script: handles each connection.
    package init(path: String? = nil, acceptingAfter gate: Gate = Gate(open: true), script: @escaping Script) throws {
        let path = try path ?? Self.newPath()
        self.path = path
        let descriptor = try ServiceSocket.listen(at: path)
        listener = descriptor
        Thread.detachNewThread { [received] in
            gate.block()
            var number = 0
            while true {
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0 else {
                    if errno == EINTR { continue }
                    break
                }
                number += 1
                let peer = ScriptedPeer(descriptor: accepted, number: number, received: received)
                Thread.detachNewThread {
                    script(peer)
                    peer.end()
                }
            }
            close(descriptor)
        }
    }

    /// Accepts no more connections; running ones continue. The socket's file is removed as well.
    package func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            unlink(path)
            // The accepting thread closes the descriptor, once.
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    /// A path no longer than a socket address allows, in a separate directory.
    package static func newPath() throws -> String {
        var template = Array("/tmp/broker-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ProcessFailure("mkdtemp: errno \(errno)") }
        return String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self) + "/broker.sock"
    }

    deinit {
        stop()
        rmdir((path as NSString).deletingLastPathComponent)
    }
}

extension ScriptedBroker {
    /// Answers every request with a result, given as JSON.
    package static func answering(_ result: @escaping @Sendable (ScriptedRequest) -> String) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() { peer.answer(request, result(request)) }
        }
    }

    /// Answers every request with a broker's error.
    package static func refusing(
        _ kind: String, message: String, more: String = ""
    ) throws -> ScriptedBroker {
        try ScriptedBroker { peer in
            while let request = peer.request() { peer.fail(request, kind, message: message, more: more) }
        }
    }
}

/// One connection, seen from the broker's side.
package final class ScriptedPeer: Sendable {
    /// Counts the connections to this broker, from 1.
    package let number: Int
    private let descriptor: Int32
    private let received: Recorder<ScriptedRequest>

    init(descriptor: Int32, number: Int, received: Recorder<ScriptedRequest>) {
        self.descriptor = descriptor
        self.number = number
        self.received = received
    }

    /// The next line as a JSON object; `nil` at the end of the connection.
    package func request() -> ScriptedRequest? {
        var line = Data()
        var byte: UInt8 = 0
        while true {
            let count = recv(descriptor, &byte, 1, 0)
            guard count == 1 else { return nil }
            guard byte != UInt8(ascii: "\n") else { break }
            line.append(byte)
        }
        guard let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
            let method = object["method"] as? String
        else { return nil }
        let params = try? JSONSerialization.data(withJSONObject: object["params"] ?? [:], options: .sortedKeys)
        let request = ScriptedRequest(
            id: object["id"] as? Int ?? 0, method: method, params: String(decoding: params ?? Data(), as: UTF8.self))
        received.add(request)
        return request
    }

    /// All data until the end of the connection, as text.
    package func rest() -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends text unchanged: no newline is added.
    package func send(_ text: String) { send(bytes: Array(text.utf8)[...]) }

    /// - Returns: false if the peer is gone.
    @discardableResult
    package func send(bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Answers with a result, given as JSON.
    package func answer(_ request: ScriptedRequest, _ result: String) {
        send(#"{"jsonrpc":"2.0","id":\#(request.id),"result":\#(result)}"# + "\n")
    }

    /// Answers with a broker's error.
    package func fail(
        _ request: ScriptedRequest, _ kind: String, message: String = "It did not work.", more: String = ""
    ) {
        send(
            #"{"jsonrpc":"2.0","id":\#(request.id),"error":{"code":-32000,"message":"\#(message)","data":"#
                + #"{"kind":"\#(kind)","retryable":false\#(more)}}}"# + "\n")
    }

    /// Sends a notification; params as JSON.
    package func notify(_ method: String, _ params: String) {
        send(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params)}"# + "\n")
    }

    /// Waits until data has arrived, and leaves it unread.
    package func waitForInput() {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, -1) < 0, errno == EINTR {}
    }

    /// Waits until the peer has read all sent data, or is gone.
    package func waitUntilRead() {
        // There is no event for it: the kernel is polled every millisecond.
        while SocketQueue.unread(descriptor) > 0 { poll(nil, 0, 1) }
    }

    /// Keeps the connection without reading or writing until the peer leaves.
    package func waitForEnd() {
        while request() != nil {}
    }

    fileprivate func end() { close(descriptor) }
}

/// A client's request.
package struct ScriptedRequest: Sendable, CustomStringConvertible {
    package let id: Int
    package let method: String
    /// As JSON with sorted keys.
    package let params: String

    package var description: String { "\(method) \(params)" }

    /// One member of the params, if it is a string.
    package func string(_ name: String) -> String? { object[name] as? String }

    package var firstScope: String { (object["scopes"] as? [String])?.first ?? "" }

    private var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(params.utf8)) as? [String: Any]) ?? [:]
    }
}
