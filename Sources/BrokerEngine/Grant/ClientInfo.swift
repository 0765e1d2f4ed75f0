import BrokerModel
import BrokerValues
import FoundationEssentials

/// What Entra says about an account's home beside the tokens: `client_info`, base64url of `{"uid": …, "utid": …}`.
package struct ClientInfo: Sendable, Equatable {
    package let userID: String
    package let tenantID: String

    /// - Returns: nil for anything that does not name a home in the form that ids have: they become part of keys.
    package init?(_ text: String) {
        guard text.utf8.count <= 4096 else { return nil }
        var standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }.drop { $0 == " " }
        while standard.last == "=" { standard.removeLast() }
        while standard.count % 4 != 0 { standard.append("=") }
        guard let data = Data(base64Encoded: String(standard)),
            let object = try? JSONDecoder().decode(JSONObject.self, from: data),
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
