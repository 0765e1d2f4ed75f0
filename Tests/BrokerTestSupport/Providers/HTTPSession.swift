import BrokerValues
import Foundation

/// A response as it came: redirects are not followed.
package struct HTTPReply: Sendable {
    package var status: Int
    /// Names in lower case; a repeated header is present twice.
    package var headers: [(name: String, value: String)]
    package var body: Data

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    package func json() throws -> JSONValue {
        do {
            return try JSONDecoder().decode(JSONValue.self, from: body)
        } catch {
            throw ProcessFailure("An answer of status \(status) is not JSON: \(text.prefix(500))")
        }
    }
}

/// A person's or an administrator's HTTP client with separate cookies: the `curl` program, so that the tested code
/// does not test itself.
package struct HTTPSession: Sendable {
    package enum Body: Sendable {
        case form([(name: String, value: String)])
        case json(JSONValue)
    }

    private let bed: TestBed
    private let cookies: String
    private let caFile: String?

    /// A client without cookies yet; `caFile` is the PEM of the authority that signed the servers' certificates.
    package init(in bed: TestBed, caFile: String? = nil) {
        self.bed = bed
        self.caFile = caFile
        cookies = bed.path(bed.unique("cookies"))
    }

    /// Sends one request; without a response, the error has curl's own message.
    package func send(
        _ method: String, _ url: String, body: Body? = nil, headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        // The first switch ignores a user's own curl configuration.
        var arguments = ["-q", "--silent", "--show-error", "--include", "--globoff", "--noproxy", "*"]
        arguments += [
            "--max-time", "\(Int(usualPatience))", "--cookie", cookies, "--cookie-jar", cookies, "--request", method,
            "--header",
            "Expect:",
        ]
        if let caFile { arguments += ["--cacert", caFile] }
        for (name, value) in headers { arguments += ["--header", "\(name): \(value)"] }
        switch body {
        case .form(let fields):
            for field in fields {
                arguments += ["--data-raw", "\(field.name.urlEncoded)=\(field.value.urlEncoded)"]
            }
        case .json(let value):
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            arguments += ["--header", "Content-Type: application/json", "--data-raw", text]
        case nil: break
        }
        let result = try await bed.run(Launch("curl", arguments + ["--", url]))
        guard result.succeeded else { throw ProcessFailure("\(method) \(url): \(result.errors)") }
        return try Self.parse(result.outputData)
    }

    package func get(_ url: String) async throws -> HTTPReply { try await send("GET", url) }

    private static func parse(_ answer: Data) throws -> HTTPReply {
        guard let end = answer.firstRange(of: Data("\r\n\r\n".utf8)) else {
            throw ProcessFailure("An answer without an end of its headers.")
        }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let status else { throw ProcessFailure("Not a status line: \(lines.first ?? "").") }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (line[..<colon].lowercased(), value)
        }
        return HTTPReply(status: status, headers: headers, body: Data(answer[end.upperBound...]))
    }
}

extension String {
    /// Percent-encodes everything but RFC 3986's unreserved characters: for queries and for form bodies.
    package var urlEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
