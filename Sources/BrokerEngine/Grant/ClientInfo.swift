import BrokerModel
import BrokerValues

/// Entra's description of an account's home, sent with the tokens: `client_info`, base64url of `{"uid": …, "utid": …}`.
package struct ClientInfo: Sendable, Equatable {
    package let userID: String
    package let tenantID: String

    /// - Returns: `nil` for anything that does not name a home in the form that ids have: they become part of keys.
    package init?(_ text: String) {
        guard text.utf8.count <= 4096 else { return nil }
        guard let json = Base64.decodeLeniently(text.utf8.drop { $0 == UInt8(ascii: " ") }),
            let object = JSONObject(json: json),
            let userID = object["uid"]?.stringValue, Self.isID(userID),
            let tenantID = object["utid"]?.stringValue, Self.isID(tenantID), !tenantID.contains(".")
        else { return nil }
        self.userID = userID
        self.tenantID = tenantID
    }

    private static func isID(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 256
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }
}
