import BrokerModel
import BrokerOAuth

/// For tests whose requests all belong to one issuer.
extension HTTPRequest {
    static let issuer = "https://issuer.example"

    init(
        _ method: Method, _ url: String, headers: [HTTPHeader] = [], body: Secret? = nil, isRepeatable: Bool? = nil
    ) {
        self.init(method, url, of: Self.issuer, headers: headers, body: body, isRepeatable: isRepeatable)
    }
}

extension HTTPTransport {
    func get(_ url: String, headers: [HTTPHeader] = []) async throws(HTTPFailure) -> HTTPResponse {
        try await get(url, of: HTTPRequest.issuer, headers: headers)
    }

    func post(
        _ url: String, body: Secret, contentType: String, headers: [HTTPHeader] = []
    ) async throws(HTTPFailure) -> HTTPResponse {
        try await post(url, of: HTTPRequest.issuer, body: body, contentType: contentType, headers: headers)
    }
}
