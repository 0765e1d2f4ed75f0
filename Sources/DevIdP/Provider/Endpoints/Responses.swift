import Hummingbird

func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
    Response(
        status: status, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}

/// JSON that must not be stored (RFC 6749, section 5.1), unless the headers say otherwise.
func json(_ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) throws -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    if headers[.cacheControl] == nil { headers[.cacheControl] = "no-store" }
    return Response(
        status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: try jsonText(value))))
}

/// 303 makes the browser drop the form data (RFC 9700, section 4.12).
func seeOther(_ location: String, cookie: String? = nil) -> Response {
    var headers: HTTPFields = [.location: location, .cacheControl: "no-store", .contentLength: "0"]
    headers[.setCookie] = cookie
    return Response(status: .seeOther, headers: headers)
}

func page(_ page: Page, status: HTTPResponse.Status = .ok, cookie: String? = nil) -> Response {
    var headers: HTTPFields = [
        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
        .contentSecurityPolicy: Page.contentSecurityPolicy, .xContentTypeOptions: "nosniff",
    ]
    headers[.setCookie] = cookie
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: page.html)))
}

extension Provider {
    /// An error as JSON (RFC 6749, section 5.2), in this provider's format.
    func refusal(
        _ failure: OAuthFailure, _ context: ProviderContext, status: HTTPResponse.Status? = nil,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let usual: HTTPResponse.Status =
            switch failure.code {
            case .invalidClient: .unauthorized
            case .serverError: .internalServerError
            default: .badRequest
            }
        var headers = headers
        if (status ?? usual) == .unauthorized, headers[.wwwAuthenticate] == nil {
            headers[.wwwAuthenticate] = Self.basicChallenge
        }
        for field in proofHeaders() { headers[field.name] = field.value }
        let members = flavor.members(of: failure, correlationID: context.correlationID, time: now())
        return try json(members, status: status ?? usual, headers: headers)
    }
}
