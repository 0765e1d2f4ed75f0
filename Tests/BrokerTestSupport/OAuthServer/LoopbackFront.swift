import Foundation

/// A TLS server or a proxy in front of a plain server on loopback.
package struct LoopbackFront: Sendable {
    package let port: Int
    private let process: ManagedProcess

    /// Terminates TLS with a certificate, offering these protocols (ALPN) and, if given, only these versions of TLS, by
    /// the names of Python's `ssl.TLSVersion`.
    package static func tls(
        to port: Int, _ certificate: TestCertificate, protocols: [String] = ["http/1.1"],
        versions: (oldest: String, newest: String)? = nil, in bed: TestBed
    ) async throws -> LoopbackFront {
        try await start(
            ["tls", "\(port)", certificate.certificate, certificate.key, protocols.joined(separator: ",")]
                + (versions.map { [$0.oldest, $0.newest] } ?? []), in: bed)
    }

    /// Responds to `CONNECT` for any host with a tunnel to one port.
    ///
    /// - Parameter answer: `USER:PASSWORD`, which are then required, or the status of every response, 0 for none.
    package static func proxy(
        to port: Int, _ answer: String? = nil, in bed: TestBed
    ) async throws -> LoopbackFront {
        try await start(["proxy", "\(port)"] + [answer].compactMap(\.self), in: bed)
    }

    /// A SOCKS proxy (RFC 1928) that reports a connection, whose server then sends nothing.
    ///
    /// - Parameter reply: 0 for success, or the reason of the failure.
    package static func socks(answering reply: Int, in bed: TestBed) async throws -> LoopbackFront {
        try await start(["socks", "1", "\(reply)"], in: bed)
    }

    private static func start(_ arguments: [String], in bed: TestBed) async throws -> LoopbackFront {
        let process = try bed.start(
            Launch("python3", [PackageTree.fixture("loopback-front.py")] + arguments), as: "front-\(arguments[0])")
        try await eventually("the front listens") {
            try process.requireRunning()
            return process.outputText.contains("\n")
        }
        let words = process.outputText.split(whereSeparator: \.isWhitespace)
        return LoopbackFront(port: words.count > 1 ? Int(words[1]) ?? 0 : 0, process: process)
    }

    /// Its output about each connection.
    package var connections: [String] {
        process.outputText.split(separator: "\n").dropFirst().map(String.init)
    }
}
