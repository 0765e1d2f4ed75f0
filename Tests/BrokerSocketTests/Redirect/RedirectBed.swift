import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Foundation
import NIOCore
import NIOPosix
import Testing

/// The result of a raw HTTP exchange.
struct Reply: Sendable {
    var status: Int
    /// Names in lower case.
    var headers: [String: String]
    var body: String

    init?(_ text: String) {
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        self.status = status
        headers = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
        }
        body = String(text[end.upperBound...])
    }
}

/// An open endpoint, and the redirects that it received.
struct RedirectBed: Sendable {
    let endpoint: any RedirectEndpoint
    let port: UInt16
    let path: String
    let bed: TestBed
    let seen: Recorder<RedirectParameters>

    func connect(ip: String = "127.0.0.1") throws -> LineClient { try LineClient.connect(toPort: port, ip: ip) }

    /// Sends exactly this, with `HOST` and `PATH` filled in, and reads to the end.
    func exchange(_ text: String, ip: String = "127.0.0.1") async throws -> Reply {
        let client = try connect(ip: ip)
        try await client.send(filled(text))
        return try #require(Reply(try await client.readToEnd()))
    }

    /// Sends a browser's request.
    func get(_ target: String, ip: String = "127.0.0.1") async throws -> Reply {
        try await exchange("GET \(target) HTTP/1.1\r\nHost: HOST\r\nAccept: text/html\r\n\r\n", ip: ip)
    }

    func status(_ target: String, ip: String = "127.0.0.1") async throws -> Int {
        try await get(target, ip: ip).status
    }

    func expect(
        _ status: Int, for target: String, ip: String = "127.0.0.1", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await self.status(target, ip: ip)
        #expect(found == status, sourceLocation: sourceLocation)
    }

    func filled(_ text: String) -> String {
        text.replacingOccurrences(of: "HOST", with: "127.0.0.1:\(port)").replacingOccurrences(of: "PATH", with: path)
    }
}

func withRedirect(
    _ target: RedirectTarget = .anyPort(host: "127.0.0.1", path: "/callback"),
    takesForm: Bool = false, limits change: (inout RedirectLimits) -> Void = { _ in },
    answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage = { _ in
        .signedIn(username: "ada@example.org", app: "mail-app")
    },
    _ body: (RedirectBed) async throws -> Void
) async throws {
    var limits = RedirectLimits()
    change(&limits)
    try await withTestBed { bed in
        let seen = Recorder<RedirectParameters>()
        let endpoint = try await redirectListener(in: bed, limits: limits).open(
            target, takesForm: takesForm
        ) { parameters in
            seen.add(parameters)
            return await answer(parameters)
        }
        bed.atEnd { await endpoint.close() }
        let url = try #require(URL(string: endpoint.redirectURI))
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        try await body(RedirectBed(endpoint: endpoint, port: port, path: url.path, bed: bed, seen: seen))
    }
}

func redirectListener(in bed: TestBed, limits: RedirectLimits = RedirectLimits()) -> LoopbackRedirectListener {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    bed.atEnd { try? await group.shutdownGracefully() }
    return LoopbackRedirectListener(
        on: group.next(), limits: limits, logger: .silent)
}

extension LoopbackRedirectListener {
    /// For a browser of the user who runs the tests.
    func open(
        _ target: RedirectTarget, takesForm: Bool = false,
        answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint {
        try await open(target, for: Partition(uid: geteuid()), takesForm: takesForm, answer: answer)
    }
}
