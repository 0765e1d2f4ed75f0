import BrokerModel
import BrokerValues

extension HTTPTransport {
    /// Fetches a document, following redirects to other paths of its server. Another origin is another party, which nobody configured.
    ///
    /// - Throws: ``ProviderError/invalidResponse(status:_:)`` for a redirect to another origin and for too many redirects.
    func document(at place: DocumentPlace, headers: [HTTPHeader]) async throws(ProviderError) -> HTTPResponse {
        let url = place.url
        var target = url
        for _ in 0...DocumentRedirects.most {
            let response: HTTPResponse
            do throws(HTTPFailure) {
                response = try await send(HTTPRequest(.get, target.text, of: place.issuer, headers: headers))
            } catch {
                throw ProviderError(error, isRepeatable: true)
            }
            guard let next = DocumentRedirects.target(of: response, from: target) else { return response }
            guard next.origin == url.origin else {
                throw .invalidResponse(
                    status: response.status,
                    "The provider \(url.server) redirects to another server, \(SafeText(next.text, atMost: 200).text). If "
                        + "that is the one you mean, name its address as the app's authority.")
            }
            target = next
        }
        throw .invalidResponse(
            status: nil, "The provider \(url.server) redirects in a loop. Check the authority's address.")
    }
}

/// Redirects of read-only documents. Pure.
enum DocumentRedirects {
    static let most = 3

    /// The target of a redirect (RFC 9110, section 15.4); `nil` if the answer is none, or if the target cannot be requested.
    static func target(of response: HTTPResponse, from url: WebURL) -> WebURL? {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.header("location") else {
            return nil
        }
        let isPath = location.hasPrefix("/") && !location.hasPrefix("//")
        guard let target = WebURL(isPath ? url.origin + location : location), !target.hasFragment else { return nil }
        return target
    }
}
