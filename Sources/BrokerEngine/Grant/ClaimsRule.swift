import BrokerModel
import BrokerValues

/// The `claims` parameter (OpenID Connect Core, section 5.5; MSAL, "client capabilities"). Pure.
package enum ClaimsRule {
    /// The requested claims, with the app's capabilities added: `{"access_token":{"xms_cc":{"values":["cp1"]}}}`.
    ///
    /// Capabilities say what the app supports, and request nothing: they alone do not bypass a cached token.
    ///
    /// - Parameter claims: text of a JSON object; the message's definition ensures that.
    /// - Returns: `nil` if there is nothing to send. Without capabilities, the text as given.
    package static func merged(_ claims: String?, capabilities: [String]) -> String? {
        guard !capabilities.isEmpty else { return claims }
        var request = JSONObject()
        if let claims {
            guard let given = JSONObject(json: claims.utf8) else { return claims }
            request = given
        }
        var accessToken = request["access_token"]?.objectValue ?? [:]
        var capability = accessToken["xms_cc"]?.objectValue ?? [:]
        let named = (capability["values"]?.arrayValue ?? []) + (capability["value"].map { [$0] } ?? [])
        // `value` and `values` exclude each other.
        capability["value"] = nil
        var values: [JSONValue] = []
        for value in named + capabilities.map(JSONValue.string) where !values.contains(value) { values.append(value) }
        capability["values"] = .array(values)
        accessToken["xms_cc"] = .object(capability)
        request["access_token"] = .object(accessToken)
        return String(decoding: request.json, as: UTF8.self)
    }

    /// The authentication contexts of which the ID token must name one, if a claims request makes that essential (OpenID Connect
    /// Core, section 5.5.1.1). `acr_values` is only a wish, which the provider may leave unfulfilled.
    ///
    /// - Returns: `nil` if it is not essential; empty if any will do.
    package static func essentialContexts(in claims: String?) -> [String]? {
        guard let claims, let request = JSONObject(json: claims.utf8),
            let acr = request["id_token"]?.objectValue?["acr"]?.objectValue, acr["essential"]?.boolValue == true
        else { return nil }
        return ((acr["values"]?.arrayValue ?? []) + [acr["value"]].compactMap(\.self)).compactMap(\.stringValue)
    }
}
