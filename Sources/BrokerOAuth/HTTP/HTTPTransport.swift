import BrokerModel
import BrokerValues

/// The HTTP operations that the OAuth logic needs; ``HTTPClient`` implements them over a network.
package protocol HTTPTransport: Sendable {
    /// Sends one request and waits for its whole response, regardless of its status. Redirects are returned like any other.
    func send(_ request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse
}

package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    package var method: Method
    /// Absolute, `https`, or `http` to a loopback host.
    package var url: String
    /// The issuer on whose behalf it is sent: it shares connections with requests for the same issuer only. The server of one issuer on
    /// a host may write on its connections what passes for another's response.
    package var issuer: String
    package var headers: [HTTPHeader]
    package var body: Secret?
    /// Whether it may go out a second time by itself, when a kept connection turns out to be dead (RFC 9110, section
    /// 9.2.2), and whether cancelling the task takes it off the wire. A request that spends a code or a refresh token
    /// may do neither: it goes out at most once and runs to its end.
    package var isRepeatable: Bool { method != .post }
    /// Whether its response is waited for twice as long as any other: a late one still counts.
    package var takesLateAnswer = false

    package init(
        _ method: Method, _ url: String, of issuer: String, headers: [HTTPHeader] = [], body: Secret? = nil
    ) {
        self.method = method
        self.url = url
        self.issuer = issuer
        self.headers = headers
        self.body = body
    }
}

/// One header field of a request.
package struct HTTPHeader: Sendable {
    package enum Value: Sendable {
        case text(String)
        /// Credentials; wiped after use as far as the broker holds them.
        case secret(Secret)
    }

    package var name: String
    package var value: Value

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = .text(value)
    }

    package init(_ name: String, secret: Secret) {
        self.name = name
        value = .secret(secret)
    }

    /// RFC 6750, section 2.1; RFC 9449, section 7.1.
    static func authorization(_ type: TokenType, _ token: Secret) -> HTTPHeader {
        let prefix = Array("\(type.rawValue) ".utf8)
        let value = token.withBytes { bytes in
            Secret(count: prefix.count + bytes.count) { buffer in
                buffer.copyBytes(from: prefix)
                UnsafeMutableRawBufferPointer(rebasing: buffer[prefix.count...]).copyMemory(from: bytes)
            }
        }
        return HTTPHeader("Authorization", secret: value)
    }
}

package struct HTTPResponse: Sendable {
    package var status: Int
    /// Names in lower case; the values of a repeated field in the order they came.
    package var headers: [String: [String]]
    package var body: [UInt8]

    package init(status: Int, headers: [String: [String]] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a field.
    package func header(_ name: String) -> String? { headers[name.lowercased()]?.first }

    /// The media type without parameters, in lower case.
    package var mediaType: String? {
        header("content-type")?.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }
}

/// Why there is no answer.
package struct HTTPFailure: Error, Sendable, Equatable {
    package enum Reason: Sendable, Equatable {
        /// The URL is invalid, or is neither `https` nor `http` to loopback.
        case notAllowed
        case nameNotResolved
        /// The connection was refused, or there is no route.
        case notConnected
        /// The proxy cannot be reached, or cannot reach the server.
        case proxy
        /// The proxy requires other credentials, or does not let the request through.
        case refusedByProxy
        /// The TLS handshake failed for another reason than the certificate.
        case handshake
        /// The server's certificate could not be verified.
        case untrusted(CertificateFault)
        case timedOut
        /// The connection ended before the response did.
        case connectionLost
        /// The response exceeds the client's limit.
        case tooLarge
        /// The response is not HTTP.
        case notHTTP
        case cancelled
        /// The client was shut down.
        case closed
        case `internal`
    }

    package var reason: Reason
    /// False only if no byte of the request can have reached the server: then sending again is safe.
    package var mayHaveBeenSent: Bool
    /// A clause for a person, naming the host: "the name idp.example was not found".
    package var message: String

    package init(_ reason: Reason, mayHaveBeenSent: Bool, _ message: String) {
        self.reason = reason
        self.mayHaveBeenSent = mayHaveBeenSent
        self.message = message
    }
}
