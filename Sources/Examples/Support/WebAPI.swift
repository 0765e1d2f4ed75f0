import Foundation
import FoundationNetworking

/// Just enough HTTP for the sample apps.
package enum WebAPI {
    package struct Failed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Requests JSON.
    ///
    /// - Parameters:
    ///   - address: the URL.
    ///   - authorization: the value of the header `Authorization`; none if left out.
    /// - Returns: the object's members that are text or numbers, as text.
    /// - Throws: ``Failed`` for a status other than 200 and for anything that is not a JSON object.
    package static func get(_ address: String, authorization: String? = nil) async throws -> [String: String] {
        guard let url = URL(string: address) else { throw Failed(description: "\(address) is not a web address.") }
        var request = URLRequest(url: url)
        request.setValue(authorization, forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else {
            throw Failed(description: "\(url.host ?? "The server") answered with status \(status).")
        }
        guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw Failed(description: "\(url.host ?? "The server") did not answer with a JSON object.")
        }
        return object.compactMapValues { $0 as? String ?? ($0 as? NSNumber)?.stringValue }
    }

    /// The issuer's userinfo endpoint (OpenID Connect Discovery, section 3).
    ///
    /// - Parameter authority: the issuer's URL.
    /// - Returns: the URL.
    /// - Throws: ``Failed`` if the metadata has none.
    package static func userinfoEndpoint(of authority: String) async throws -> String {
        let base = authority.hasSuffix("/") ? String(authority.dropLast()) : authority
        let metadata = try await get(base + "/.well-known/openid-configuration")
        guard let endpoint = metadata["userinfo_endpoint"] else {
            throw Failed(description: "\(authority) has no userinfo endpoint; name an API with --api.")
        }
        return endpoint
    }
}
