import NIOCore

/// A request that reached the provider, and its response, which arrives in pieces.
struct Exchange {
    private var request = ByteBuffer()
    private var response = ByteBuffer()
    let id: SpentTokens.Request

    /// The largest response that the broker accepts, in bytes.
    private static let limit = 1 << 20

    init(_ id: SpentTokens.Request) { self.id = id }

    mutating func add(request piece: ByteBuffer) { request.writeImmutableBuffer(piece) }

    mutating func add(response piece: ByteBuffer) { response.writeImmutableBuffer(piece) }

    var hasResponse: Bool { response.readableBytes > 0 }

    /// The refresh token that the request redeems.
    var refreshToken: String? {
        let text = String(buffer: request)
        return text.firstRange(of: "refresh_token=").map { String(text[$0.upperBound...].prefix { $0 != "&" }) }
    }

    /// Whether the response is whole and has a new refresh token.
    var replacesRefreshToken: Bool {
        let bytes = response.readableBytesView
        guard let end = bytes.firstRange(of: "\r\n\r\n".utf8) else { return false }
        let header = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        let body = bytes[end.upperBound...]
        guard let length = header.firstMatch(of: /content-length: *(\d+)/).flatMap({ Int($0.1) }),
            length == body.count, length <= Self.limit
        else { return false }
        return body.firstRange(of: "\"refresh_token\"".utf8) != nil
    }
}
