import BrokerTestSupport
import BrokerValues
import CEchoServer
import Foundation

/// A minimal provider in C, in a separate process, so that the broker's own cost is measured.
struct QuickProvider {
    let issuer: String
    var tokenEndpoint: String { "\(issuer)/token" }

    static func start(people: Int, of client: String, in bed: TestBed) async throws -> QuickProvider {
        let port = try FreePort.next()
        let provider = QuickProvider(issuer: "http://127.0.0.1:\(port)")
        let identity = try SigningIdentity.make(.rs256)
        let discovery: JSONObject = [
            "issuer": .string(provider.issuer), "authorization_endpoint": .string("\(provider.issuer)/authorize"),
            "token_endpoint": .string(provider.tokenEndpoint), "jwks_uri": .string("\(provider.issuer)/jwks"),
            "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        ]
        let now = Int64(Date().timeIntervalSince1970)
        var lines = [text(discovery), text(["keys": [.object(identity.jwk)]])]
        for person in 0..<people {
            lines.append(
                identity.sign([
                    "iss": .string(provider.issuer), "sub": .string(Crowd.name(person)), "aud": .string(client),
                    "iat": .integer(now), "exp": .integer(now + 86_400),
                    "preferred_username": .string(Crowd.name(person)),
                ]))
        }
        let file = bed.path(bed.unique("provider"))
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        let process = try bed.start(Launch("/proc/self/exe", ["--provider", "\(port)", file]), as: "provider")
        try await eventually("the provider accepts") {
            try process.requireRunning()
            guard let client = try? LineClient.connect(toPort: port) else { return false }
            await client.close()
            return true
        }
        return provider
    }

    /// A person's token after some refreshes; a refresh returns the next one.
    static func refreshToken(of person: Int, after refreshes: Int) -> String { "\(person).\(refreshes)" }

    private static func text(_ object: JSONObject) -> String {
        var writer = JSONWriter()
        writer.value(.object(object), sorted: true)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The child's side; it is ended from outside.
    static func serve(_ arguments: [String]) {
        guard arguments.count == 2, let port = UInt16(arguments[0]),
            let lines = try? String(contentsOfFile: arguments[1], encoding: .utf8).components(separatedBy: "\n"),
            lines.count > 2
        else { exit(2) }
        let code = Array(lines.dropFirst(2)).withCArguments {
            provider_serve(port, lines[0], lines[1], $0, lines.count - 2)
        }
        FileHandle.standardError.write(Data("provider: \(String(cString: strerror(code)))\n".utf8))
        exit(1)
    }
}
