import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ImportCommand: Noun {
    static var about: About {
        About(
            "import", "Import sign-ins from other programs.",
            """
            Examples:
              brokerctl import msal-cache ~/.azure/msal_token_cache.json
            """)
    }

    static var subcommands: [any Command.Type] {
        [ImportMSALCacheCommand.self]
    }
}

struct ImportMSALCacheCommand: Subcommand {
    static var about: About {
        About(
            "msal-cache", "Import the token cache of MSAL for Python, .NET or Java, or of the Azure CLI.",
            """
            Each registered app gets the tokens of its client id. The file is only read; delete it after the import, \
            because its tokens are not encrypted. The Azure CLI's file is ~/.azure/msal_token_cache.json.

            Examples:
              brokerctl import msal-cache ~/.azure/msal_token_cache.json
            """)
    }

    var global = GlobalOptions()
    var file = ""
    /// If unset, each registered app gets the tokens of its client id.
    var receiver = AppOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("file", &file, "The cache file.", completing: .files)
        arguments.group(&receiver)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var sum = CacheImportReport()
        for part in CacheParts.of(try read()) {
            var params = ImportCache.Params(cache: part)
            params.selection = AppSelection(receiver.reference)
            let result: CacheImportReport
            do throws(BrokerClientError) {
                result = try context.connection.call(ImportCache.self, params)
            } catch {
                // The others may fit; only this account is left out and reported.
                guard error.code == .invalidParameter, error.rpc == nil else { throw error }
                sum.problems.append("An account has more tokens than fit into one message; sign in to it again.")
                continue
            }
            sum.add(result)
        }
        context.output.result(JSONText.node(of: sum)) { ImportText.text(sum, in: context.output.layout) }
    }

    private func read() throws(BrokerClientError) -> JSONObject {
        guard let bytes = contents(of: file) else {
            throw BrokerClientError(.invalidParameter, "\(file) cannot be read; name the cache file of MSAL.")
        }
        guard let object = JSONObject(json: bytes), CacheParts.sections.contains(where: { object[$0] != nil })
        else {
            throw BrokerClientError(
                .invalidParameter, "\(file) is not an MSAL cache; it may be encrypted, which this command cannot read.")
        }
        return object
    }
}

/// Splits a cache by account: a message easily holds the tokens of one account, but not of all.
package enum CacheParts {
    static let sections = ["AccessToken", "RefreshToken", "IdToken", "Account", "AppMetadata"]

    package static func of(_ cache: JSONObject) -> [JSONObject] {
        var parts: [String: JSONObject] = [:]
        for section in sections where section != "AppMetadata" {
            for (key, entry) in cache[section]?.objectValue ?? [:] {
                let home = entry.objectValue?["home_account_id"]?.stringValue ?? ""
                var entries = parts[home]?[section]?.objectValue ?? [:]
                entries[key] = entry
                parts[home, default: [:]][section] = .object(entries)
            }
        }
        let metadata = cache["AppMetadata"]
        return parts.sorted { $0.key < $1.key }.map { _, part in
            var part = part
            part["AppMetadata"] = metadata
            return part
        }
    }
}

extension CacheImportReport {
    mutating func add(_ other: CacheImportReport) {
        accounts += other.accounts
        refreshTokens += other.refreshTokens
        familyRefreshTokens += other.familyRefreshTokens
        accessTokens += other.accessTokens
        idTokens += other.idTokens
        appMetadata += other.appMetadata
        older += other.older
        expired += other.expired
        problems += other.problems.filter { !problems.contains($0) }
        unregistered += other.unregistered.filter { client in !unregistered.contains { $0.clientID == client.clientID }
        }
    }
}

package enum ImportText {
    package static func text(_ result: CacheImportReport, in layout: Layout = .plain) -> String {
        var facts = Facts()
        facts.add("Accounts", "\(result.accounts)")
        facts.add("Refresh tokens", "\(result.refreshTokens)")
        facts.add("Family tokens", result.familyRefreshTokens > 0 ? "\(result.familyRefreshTokens)" : nil)
        facts.add("Access tokens", "\(result.accessTokens)")
        facts.add("ID tokens", "\(result.idTokens)")
        facts.add("Left out", leftOut(result))
        var text = facts.text(in: layout)
        for problem in result.problems { text += problem.clean + "\n" }
        if !result.unregistered.isEmpty {
            text += "No app is registered for these clients. Register them, and import again:\n"
            for client in result.unregistered {
                let command = [
                    "brokerctl", "apps", "add", "NAME", "--client-id", client.clientID, "--authority", client.authority,
                ]
                text += layout.command(command) + "\n"
            }
        }
        return text
    }

    private static func leftOut(_ result: CacheImportReport) -> String? {
        let parts = [
            result.older > 0 ? "\(result.older) that the broker already has" : nil,
            result.expired > 0 ? "\(result.expired) expired" : nil,
        ]
        let words = parts.compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
