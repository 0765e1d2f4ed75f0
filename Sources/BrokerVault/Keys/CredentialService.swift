import BrokerModel
import BrokerSystem
import BrokerValues
import Dispatch
import Glibc

/// The service of systemd 256 and later that seals small secrets for one user of this machine (`io.systemd.Credentials`): with
/// the machine's secret, and its TPM if there is one. Only the same service opens them, for the same user.
///
/// It speaks Varlink: one JSON text in each direction, terminated by a zero byte.
package struct CredentialService: Sendable {
    package static let usualPath = "/run/systemd/io.systemd.Credentials"
    /// A TPM is slow.
    private static let patience = 30
    /// An answer is a few kilobytes.
    private static let longest = 1 << 20

    enum Failure: Error {
        /// The service did not answer.
        case unreachable(String)
        /// The service refused, with this text.
        case refused(String)
    }

    private let path: String

    package init(at path: String = usualPath) { self.path = path }

    var isThere: Bool { access(path, R_OK | W_OK) == 0 }

    /// - Parameter name: the sealed secret opens under this name only.
    /// - Returns: text that is not secret.
    func seal(_ secret: Secret, as name: String) async throws(Failure) -> String {
        try await ask("Encrypt") { writer in
            writer.key("name")
            writer.string(name)
            writer.key("data")
            Base64.encode(secret, prefix: "").withBytes { writer.string(utf8: $0) }
        } for: {
            $0["blob"]?.text
        }
    }

    func open(_ sealed: String, as name: String) async throws(Failure) -> Secret {
        try await ask("Decrypt") { writer in
            writer.key("name")
            writer.string(name)
            writer.key("blob")
            writer.string(sealed)
        } for: { parameters in
            (parameters["data"]?.text).flatMap { Base64.decodeLeniently($0.utf8) }.map { bytes in
                bytes.withUnsafeBytes { Secret(copying: $0) }
            }
        }
    }

    private func ask<Answer: Sendable>(
        _ method: String, _ parameters: (inout JSONWriter) -> Void, for answer: (JSONNode) -> Answer?
    ) async throws(Failure) -> Answer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("method")
            writer.string("io.systemd.Credentials.\(method)")
            writer.key("parameters")
            writer.object { writer in
                parameters(&writer)
                // The user's own credentials, not root's: no further authorization is asked for.
                writer.key("scope")
                writer.string("user")
            }
        }
        let request = writer.bytes + [0]
        writer.wipe()
        let line = try await exchange(request).get()
        guard let node = try? JSONReader.read(line, names: .areUnique), case .object = node else {
            throw .refused("its answer is not a JSON object")
        }
        if let error = node["error"]?.text { throw .refused(error) }
        guard let found = (node["parameters"]).flatMap(answer) else {
            throw .refused("its answer lacks the requested value")
        }
        return found
    }

    /// Waiting for another process blocks a thread that nothing else uses.
    private static let queue = DispatchQueue(label: "credentials")

    private func exchange(_ request: [UInt8]) async -> Result<[UInt8], Failure> {
        await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: exchangeWaiting(request)) }
        }
    }

    private func exchangeWaiting(_ request: [UInt8]) -> Result<[UInt8], Failure> {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .failure(.unreachable(errnoText(errno))) }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        guard connect(descriptor), send(request, on: descriptor) else {
            return .failure(.unreachable(errnoText(errno)))
        }
        return receive(on: descriptor)
    }

    private func connect(_ descriptor: Int32) -> Bool {
        guard let address = UnixAddress(path: path) else {
            errno = ENAMETOOLONG
            return false
        }
        return address.withPointer { Glibc.connect(descriptor, $0, $1) == 0 }
    }

    private func send(_ bytes: [UInt8], on descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func receive(on descriptor: Int32) -> Result<[UInt8], Failure> {
        var line: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while line.count < Self.longest {
            let count = read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return .failure(.unreachable(count == 0 ? "it hung up" : errnoText(errno)))
            }
            let new = part.prefix(count)
            line += new.prefix { $0 != 0 }
            if new.contains(0) { return .success(line) }
        }
        return .failure(.refused("its answer has no end"))
    }
}

extension JSONNode {
    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
