import BrokerModel
import BrokerValues

/// One key of a table `[provider."https://issuer"]`, in which the administrator describes a provider.
package struct ProviderSetting: Sendable {
    package let name: String
    package let kind: Kind
    package let summary: String

    package enum Kind: Sendable {
        case providerKind
        /// An https URL; plain http only to loopback.
        case endpoint
        case choice([String])
        case offlineAccess
        case clouds
    }

    package static let all: [ProviderSetting] = [
        ProviderSetting(
            name: "kind", kind: .providerKind,
            summary: "The whole host's kind, if its name does not show it. Decides how authorities on it are read."),
        endpoint("authorization_endpoint", "Where people sign in."),
        endpoint("token_endpoint", "Where codes and refresh tokens are redeemed."),
        endpoint("jwks_uri", "The keys that ID tokens are signed with."),
        endpoint("device_authorization_endpoint", "Where codes for other devices come from (RFC 8628)."),
        endpoint("revocation_endpoint", "Where tokens are revoked (RFC 7009)."),
        endpoint("userinfo_endpoint", "Where claims about the user come from (OpenID Connect Core, section 5.3)."),
        endpoint("end_session_endpoint", "Where the browser signs out."),
        endpoint("pushed_authorization_request_endpoint", "Where requests are pushed before sign-ins (RFC 9126)."),
        endpoint("registration_endpoint", "Where clients are registered (RFC 7591)."),
        ProviderSetting(
            name: "resource_parameter", kind: .choice(["resource", "audience"]),
            summary: "How requests call a token's destination: as RFC 8707 does, or as providers did before it."),
        ProviderSetting(
            name: "offline_access", kind: .offlineAccess,
            summary:
                "Whether sign-ins ask for `offline_access`, which brings refresh tokens. Unset: where the provider's "
                + "metadata name it, or name no scopes."),
        ProviderSetting(
            name: "other_clouds", kind: .clouds,
            summary:
                "Further clouds that people of instance-aware apps may be sent to from here; Microsoft's know each "
                + "other already. Each is of kind `entra` by being named, and its token and revocation endpoints must be "
                + "on its own host."),
    ]

    private static func endpoint(_ name: String, _ summary: String) -> ProviderSetting {
        ProviderSetting(name: name, kind: .endpoint, summary: summary)
    }

    static func named(_ name: String) -> ProviderSetting? { all.first { $0.name == name } }

    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String {
        let head = ["| Key | Value | Meaning |", "|---|---|---|"]
        return (head + all.map { "| `\($0.name)` | \($0.kind.documentation) | \($0.summary) |" })
            .joined(separator: "\n")
    }
}

extension ProviderSetting.Kind {
    package var documentation: String {
        switch self {
        case .providerKind: Self.kinds.map { "`\($0)`" }.joined(separator: ", ")
        case .endpoint: "https URL"
        case .choice(let choices): choices.map { "`\($0)`" }.joined(separator: ", ")
        case .offlineAccess: "`true`, `false`"
        case .clouds: "array of https URLs of hosts"
        }
    }

    fileprivate static var kinds: [String] { ProviderKind.allCases.map(\.rawValue) }
}

extension ProviderSetting {
    func assign(_ value: SettingValue, to table: inout ProviderTable) throws(SettingRefusal) {
        switch (kind, value) {
        case (.providerKind, .string(let text)):
            guard let kind = ProviderKind(rawValue: text) else { throw .unknown(text, among: Kind.kinds) }
            table.kind = kind
        case (.endpoint, .string(let text)):
            guard let url = WebURL(text), url.isSafeToRequest, !url.hasFragment else {
                throw SettingRefusal(.outOfRange, "\"\(text)\" is not an https URL")
            }
            table.completion.endpoints[name] = text
        case (.choice(let choices), .string(let text)):
            guard choices.contains(text) else { throw .unknown(text, among: choices) }
            table.completion.resourceParameter = text
        case (.offlineAccess, .boolean(let flag)): table.completion.takesOfflineAccess = flag
        // Checked after all tables are read: whether they are hosts, and Entra's.
        case (.clouds, .words(let urls)): table.otherClouds = urls
        case (.offlineAccess, _): throw .wrongType(value, instead: "a boolean")
        case (.clouds, _): throw .wrongType(value, instead: "an array of strings")
        case (.providerKind, _), (.endpoint, _), (.choice, _): throw .wrongType(value, instead: "a string")
        }
    }

    /// The value as a file would give it; `nil` if it is not set.
    func text(in table: ProviderTable) -> String? {
        switch kind {
        case .providerKind: table.kind?.rawValue
        case .endpoint: table.completion.endpoints[name]
        case .choice: table.completion.resourceParameter
        case .offlineAccess: table.completion.takesOfflineAccess.map { "\($0)" }
        case .clouds: table.otherClouds.map(TOMLText.quoted)
        }
    }
}
