import BrokerModel
import BrokerValues

/// The cache file that MSAL for Python, .NET and Java and the Azure CLI write, read entry by entry: malformed entries are reported
/// and left out. Pure; the meaning of the entries is not trusted.
package struct UnifiedCache: Sendable {
    package struct Account: Sendable {
        package var homeAccountID: String
        package var environment: String
        package var realm: String
        package var localAccountID: String?
        package var username: String?
        package var name: String?
        package var extra: JSONObject
    }

    package struct Credential: Sendable {
        package var homeAccountID: String
        package var environment: String
        package var clientID: String
        package var secret: Secret
        /// Empty for refresh tokens.
        package var realm: String
        package var scopes: [String]
        package var familyID: String?
        package var tokenType: String?
        package var cachedAt: NumericDate?
        package var expiresOn: NumericDate?
        package var extendedExpiresOn: NumericDate?
        package var refreshOn: NumericDate?
        package var extra: JSONObject
    }

    package struct Metadata: Sendable {
        package var environment: String
        package var clientID: String
        package var familyID: String?
        package var extra: JSONObject
    }

    package var accounts: [Account] = []
    package var refreshTokens: [Credential] = []
    package var accessTokens: [Credential] = []
    package var idTokens: [Credential] = []
    package var metadata: [Metadata] = []
    /// One sentence each; none holds a secret.
    package var problems: [String] = []

    package init(_ file: JSONObject) {
        accounts = Self.read("Account", of: file, &problems) { entry throws(EntryProblem) in
            Account(
                homeAccountID: try entry.text("home_account_id"), environment: try entry.text("environment"),
                realm: entry.optionalText("realm") ?? "", localAccountID: entry.optionalText("local_account_id"),
                username: entry.optionalText("username"), name: entry.optionalText("name"),
                extra: entry.others([
                    "home_account_id", "environment", "realm", "local_account_id", "username", "name",
                ]))
        }
        refreshTokens = Self.read("RefreshToken", of: file, &problems) { entry throws(EntryProblem) in
            try entry.credential()
        }
        accessTokens = Self.read("AccessToken", of: file, &problems) { entry throws(EntryProblem) in
            let token = try entry.credential()
            guard token.expiresOn != nil else { throw EntryProblem(text: "has no expires_on") }
            return token
        }
        idTokens = Self.read("IdToken", of: file, &problems) { entry throws(EntryProblem) in try entry.credential() }
        metadata = Self.read("AppMetadata", of: file, &problems) { entry throws(EntryProblem) in
            Metadata(
                environment: try entry.text("environment"), clientID: try entry.text("client_id"),
                familyID: entry.optionalText("family_id"),
                extra: entry.others(["environment", "client_id", "family_id"]))
        }
    }

    private static func read<Value>(
        _ section: String, of file: JSONObject, _ problems: inout [String],
        _ body: (Entry) throws(EntryProblem) -> Value
    ) -> [Value] {
        guard let given = file[section] else { return [] }
        guard let entries = given.objectValue else {
            problems.append("The section \(section) is not an object.")
            return []
        }
        var values: [Value] = []
        var number = 0
        for (_, value) in entries.sorted(by: { $0.key < $1.key }) {
            number += 1
            do throws(EntryProblem) {
                guard let fields = value.objectValue else { throw EntryProblem(text: "is not an object") }
                values.append(try body(Entry(fields: fields)))
            } catch {
                // An entry's key names its person; its number does not.
                problems.append("Entry \(number) of \(section) \(error.text).")
            }
        }
        return values
    }
}

private struct EntryProblem: Error {
    var text: String
}

private struct Entry {
    let fields: JSONObject

    func text(_ name: String) throws(EntryProblem) -> String {
        guard let text = optionalText(name) else { throw EntryProblem(text: "has no \(name)") }
        return text
    }

    /// The text of a field, unless it is empty or longer than a real one can be.
    func optionalText(_ name: String) -> String? {
        fields[name]?.stringValue.flatMap { $0.isEmpty || $0.utf8.count > 1024 ? nil : $0 }
    }

    /// The time in a field. MSAL writes numbers as text.
    func time(_ name: String) -> NumericDate? {
        guard let time = fields[name]?.integerValue ?? fields[name]?.stringValue.flatMap(Int64.init),
            (0...253_402_300_799).contains(time)
        else { return nil }
        return time
    }

    func others(_ known: Set<String>) -> JSONObject { fields.filter { !known.contains($0.key) } }

    func credential() throws(EntryProblem) -> UnifiedCache.Credential {
        guard let secret = fields["secret"]?.stringValue, !secret.isEmpty else {
            throw EntryProblem(text: "has no secret")
        }
        return UnifiedCache.Credential(
            homeAccountID: try text("home_account_id"), environment: try text("environment"),
            clientID: try text("client_id"), secret: Secret(secret), realm: optionalText("realm") ?? "",
            scopes: (fields["target"]?.stringValue ?? "").split(separator: " ").map(String.init),
            familyID: optionalText("family_id"), tokenType: optionalText("token_type"),
            cachedAt: time("cached_at") ?? time("last_modification_time"), expiresOn: time("expires_on"),
            extendedExpiresOn: time("extended_expires_on"), refreshOn: time("refresh_on"),
            extra: others([
                "home_account_id", "environment", "client_id", "secret", "realm", "target", "family_id", "token_type",
                "cached_at", "last_modification_time", "expires_on", "extended_expires_on", "refresh_on",
            ]))
    }
}
