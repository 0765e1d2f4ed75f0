import BrokerSystem
import BrokerValues

/// The apps of `apps.d/*.toml`: one table per app, under the name that requests use. A file with a mistake is ignored; the
/// others count.
package struct AppFiles: Sendable, Equatable {
    /// Ordered by name.
    package private(set) var entries: [AppFileEntry] = []
    package private(set) var mistakes: [ConfigurationError] = []

    package init() {}

    /// - Parameter folders: strongest first; an app in one hides apps of the same name in the next. Each may be missing.
    init(folders: [String]) throws(ConfigurationError) {
        var byName: [String: AppFileEntry] = [:]
        for folder in folders.reversed() {
            let files = try ConfigurationFolder(folder)
            mistakes += files.mistakes
            for path in files.paths {
                do throws(ConfigurationError) {
                    for entry in try Self.apps(of: path) { byName[entry.description.name] = entry }
                } catch {
                    mistakes.append(error)
                }
            }
        }
        entries = byName.values.sorted { $0.description.name < $1.description.name }
    }

    private static func apps(of path: String) throws(ConfigurationError) -> [AppFileEntry] {
        guard let text = try ConfigurationFile.text(of: path) else { return [] }
        var apps: [String: AppFileEntry] = [:]
        let values = try ConfigurationFile.entries(of: text, at: path)
        for value in values.sorted(by: { $0.line < $1.line }) {
            let origin = ConfigurationOrigin.file(path: path, line: value.line)
            if value.path.count == 3, value.path[1] == "query" {
                guard case .string(let text) = value.value else {
                    throw ConfigurationError(.wrongType, "query: \(value.path[2]) expects a string", at: origin)
                }
                apps[value.path[0], default: AppFileEntry(name: value.path[0], origin: "\(origin)")]
                    .description.query = (apps[value.path[0]]?.description.query ?? [:])
                    .merging([value.path[2]: text]) { $1 }
                continue
            }
            guard value.path.count == 2 else {
                throw ConfigurationError(
                    .unknownKey, "an app is a table that has its name, with keys in it: [mail]", at: origin)
            }
            try TableKey.assign(
                value.value, to: value.path[1], of: "an app", among: TableKey<AppFileEntry>.all, at: origin,
                &apps[value.path[0], default: AppFileEntry(name: value.path[0], origin: "\(origin)")])
        }
        for app in apps.values where app.description.clientID.isEmpty || app.authority.isEmpty {
            throw ConfigurationError(
                .outOfRange, "the app \(app.description.name) needs a client_id and an authority",
                at: .file(path: path, line: nil))
        }
        return Array(apps.values)
    }
}

extension TableKey<AppFileEntry> {
    static var all: [TableKey] {
        [
            text("client_id", \.description.clientID, "Its client id at the provider; needed."),
            text("authority", \.authority, "The issuer URL it signs in at; needed."),
            optional("group", \.description.group, "Apps of one group share accounts; none: a group of its own."),
            words("scopes", \.description.scopes, "Scopes that it usually requests."),
            words(
                "allowed_scopes", \.description.allowedScopes,
                "Scopes and resources that its tokens may have at most; a request for others is refused. None: any."),
            optional(
                "redirect_uri", \.description.redirectURI, "As registered at the provider; none: loopback, any port."),
            words("executables", \.description.executables, "Absolute paths of programs that may act as it."),
            words(
                "units", \.description.units,
                "systemd units that may act as it, as `system:NAME.service` or `user:NAME.service`."),
            words(
                "sandbox_ids", \.description.sandboxIDs,
                "Sandboxes that may act as it, as `flatpak:ID`, `snap:NAME` or `ENGINE:ID`."),
            words(
                "resources", \.description.resources,
                "Resources of its tokens, if a request names none (RFC 8707)."),
            optional(
                "mailbox", \.description.mailbox,
                "The account's name at mail servers, if it is not the username (XOAUTH2)."),
            optional(
                "bind_refresh_token", \.description.bindRefreshToken,
                "Whether refresh tokens are bound to a key (RFC 9449) although access tokens are bearer tokens; none: where the provider is known to do so."
            ),
            optional(
                "offline_access", \.description.offlineAccess,
                "Whether sign-ins ask for `offline_access`: always, or never; none: unless the provider does not offer or refuses it."
            ),
            TableKey(
                name: "query",
                summary:
                    "A table of parameters that go along with every sign-in: `query = { access_type = \"offline\" }`.",
                type: ["type": "object", "additionalProperties": ["type": "string"]]
            ) { value, _ throws(Setting.Refusal) in
                throw Setting.Refusal(.wrongType, "expects a table of strings, not \(value.typeName)")
            },
            boolean("instance_aware", \.isInstanceAware, "Whether its people may be at home in other clouds of Entra."),
        ]
    }
}

extension AppFiles {
    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String { TableKey<AppFileEntry>.documentation(of: TableKey<AppFileEntry>.all) }
}
