/// A JSON document of a provider (discovery, keys) as it was received, with what a conditional request for it needs.
///
/// Codable, so that it can be kept across restarts unchanged.
package struct CachedDocument: Sendable, Codable, Equatable {
    /// The issuer that was asked, and the URL.
    package var name: String
    package var body: [UInt8]
    /// Validators of RFC 9110, section 8.8.
    package var entityTag: String?
    package var lastModified: String?
    /// Seconds for which it may be used without asking.
    package var lifetime: Int64

    /// - Returns: `nil` unless the answer is a 200.
    init?(_ response: HTTPResponse, from place: DocumentPlace) {
        guard response.status == 200 else { return nil }
        name = place.name
        body = response.body
        entityTag = response.header("etag")
        lastModified = response.header("last-modified")
        lifetime = Self.lifetime(cacheControl: response.header("cache-control"))
    }

    /// The fields of a conditional request (RFC 9110, section 13.1).
    var conditions: [HTTPHeader] {
        var headers: [HTTPHeader] = []
        if let entityTag { headers.append(HTTPHeader("If-None-Match", entityTag)) }
        if let lastModified { headers.append(HTTPHeader("If-Modified-Since", lastModified)) }
        return headers
    }

    /// The lifetime that the provider asks for (RFC 9111, section 5.2.2), within bounds: changed keys are noticed by their
    /// unknown id, so an hour does no harm, and a minute protects a provider that forbids caching from a request per sign-in.
    static func lifetime(cacheControl: String?) -> Int64 {
        let shortest: Int64 = 60
        let longest: Int64 = 86_400
        for directive in (cacheControl ?? "").lowercased().split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map {
                $0.filter { !$0.isWhitespace && $0 != "\"" }
            }
            if parts.first == "no-store" || parts.first == "no-cache" { return shortest }
            if parts.count == 2, parts[0] == "max-age", let seconds = Int64(parts[1]) {
                return min(max(seconds, shortest), longest)
            }
        }
        return 3600
    }
}
