import BrokerModel
import BrokerValues
import Foundation
import NIOCore
import NIOHTTP1

#if canImport(Glibc)
    import Glibc
#endif

/// A request as a scripted server received it.
package struct ProviderRequest: Sendable {
    package var method: String
    /// Without the query.
    package var path: String
    package var query: [String: String]
    /// Names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    init(_ head: HTTPRequestHead, body: [UInt8]) {
        method = head.method.rawValue
        path = String(head.uri.prefix { $0 != "?" })
        query = RedirectParameters(redirectURL: head.uri[...]).values
        headers = head.headers.reduce(into: [:]) { $0[$1.name.lowercased()] = $1.value }
        self.body = body
    }

    package var text: String { String(decoding: body, as: UTF8.self) }
    /// The fields of a form body.
    package var form: [String: String] { RedirectParameters(query: text[...]).values }

    /// User and password of HTTP Basic, form-decoded according to RFC 6749, section 2.3.1.
    package var basicCredentials: (id: String, secret: String)? {
        guard let header = headers["authorization"], header.hasPrefix("Basic "),
            let pair = Data(base64Encoded: String(header.dropFirst(6))).map({ String(decoding: $0, as: UTF8.self) }),
            let colon = pair.firstIndex(of: ":")
        else { return nil }
        func decoded(_ text: Substring) -> String { RedirectParameters(query: "v=\(text)")["v"] ?? "" }
        return (decoded(pair[..<colon]), decoded(pair[pair.index(after: colon)...]))
    }
}

/// A scripted server's reaction to a request.
package struct ProviderAnswer: Sendable {
    enum Fault: Sendable {
        case none
        case hang
        case close
        case reset
        case truncate(Int)
        case raw([UInt8])
        case endless
        case drip(Duration)
    }

    package var status: Int
    package var headers: [(String, String)]
    package var body: [UInt8]
    var fault = Fault.none

    package init(status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package static func json(_ value: JSONValue, status: Int = 200, headers: [(String, String)] = []) -> ProviderAnswer
    {
        let body = (try? JSONEncoder().encode(value)).map { Array($0) } ?? []
        return ProviderAnswer(status: status, headers: [("Content-Type", "application/json")] + headers, body: body)
    }

    /// A body that is declared as JSON, whatever it is.
    package static func json(text: [UInt8]) -> ProviderAnswer {
        ProviderAnswer(status: 200, headers: [("Content-Type", "application/json")], body: text)
    }

    /// An error of RFC 6749, section 5.2.
    package static func oauthError(_ error: String, description: String? = nil, status: Int = 400) -> ProviderAnswer {
        var fields: JSONObject = ["error": .string(error)]
        fields["error_description"] = description.map(JSONValue.string)
        return json(.object(fields), status: status)
    }

    package static func html(_ text: String = "<h1>Sorry</h1>", status: Int = 200) -> ProviderAnswer {
        ProviderAnswer(
            status: status, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: Array("<!doctype html><title>Sorry</title>\(text)".utf8))
    }

    package static func empty(_ status: Int, headers: [(String, String)] = []) -> ProviderAnswer {
        ProviderAnswer(status: status, headers: headers)
    }

    package static func redirect(to url: String, status: Int = 302) -> ProviderAnswer {
        ProviderAnswer(status: status, headers: [("Location", url)])
    }

    /// Never answers; the connection stays open.
    package static let hang = faulty(.hang)
    /// Closes the connection instead of answering.
    package static let close = faulty(.close)
    /// Resets the connection instead of answering.
    package static let reset = faulty(.reset)
    /// Sends an endless body until the client hangs up.
    package static let endless = faulty(.endless)
    /// Sends these bytes, which need not be HTTP, and closes.
    package static func raw(_ text: String) -> ProviderAnswer { faulty(.raw(Array(text.utf8))) }

    private static func faulty(_ fault: Fault) -> ProviderAnswer {
        var answer = ProviderAnswer(status: 200)
        answer.fault = fault
        return answer
    }

    /// Announces the whole body, sends its first bytes, and closes.
    package func truncated(after count: Int) -> ProviderAnswer {
        var answer = self
        answer.fault = .truncate(count)
        return answer
    }

    /// One byte at a time.
    package func dripping(every pause: Duration) -> ProviderAnswer {
        var answer = self
        answer.fault = .drip(pause)
        return answer
    }

    var head: [UInt8] {
        var lines = ["HTTP/1.1 \(status) Scripted"] + headers.map { "\($0): \($1)" }
        if status != 204, status != 304 { lines.append("Content-Length: \(body.count)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
