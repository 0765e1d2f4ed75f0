import BrokerModel
import BrokerOAuth

/// For tests whose requests all belong to one issuer.
extension HTTPRequest {
    static let issuer = "https://issuer.example"

    init(_ method: Method, _ url: String, headers: [HTTPHeader] = [], body: Secret? = nil) {
        self.init(method, url, of: Self.issuer, headers: headers, body: body)
    }
}

extension HTTPTransport {
    func get(
        _ url: String, of issuer: String = HTTPRequest.issuer, headers: [HTTPHeader] = []
    ) async throws(HTTPFailure) -> HTTPResponse {
        try await send(HTTPRequest(.get, url, of: issuer, headers: headers))
    }

    func post(
        _ url: String, body: Secret, contentType: String, headers: [HTTPHeader] = []
    ) async throws(HTTPFailure) -> HTTPResponse {
        try await send(
            HTTPRequest(.post, url, headers: [HTTPHeader("Content-Type", contentType)] + headers, body: body))
    }
}
