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

/// 303 makes the browser forget the form it posted (RFC 9700, section 4.12).
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

/// The body of a token endpoint's error (RFC 6749, section 5.2).
struct ErrorBody: Encodable {
    let error: String
    let error_description: String
}

func oauthError(_ failure: OAuthFailure, challenge: String? = nil) throws -> Response {
    let status: HTTPResponse.Status =
        switch failure.code {
        case .invalidClient: .unauthorized
        case .serverError: .internalServerError
        default: .badRequest
        }
    var headers: HTTPFields = [:]
    if status == .unauthorized, let challenge { headers[.wwwAuthenticate] = challenge }
    return try json(
        ErrorBody(error: failure.code.rawValue, error_description: failure.description), status: status,
        headers: headers)
}
