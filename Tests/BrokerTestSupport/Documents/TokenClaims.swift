import BrokerValues
import Foundation

/// The claims of a JWT, without checking its signature.
package func claims(of token: String?) throws -> JSONObject {
    let parts = (token ?? "").split(separator: ".")
    guard parts.count == 3 else { throw ProcessFailure("A token of \(parts.count) parts is no JWT.") }
    let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    return try JSONDecoder().decode(JSONObject.self, from: data ?? Data())
}
