import BrokerValues

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
            ) { value, _ throws(SettingRefusal) in
                throw .wrongType(value, instead: "a table of strings")
            },
            boolean("instance_aware", \.isInstanceAware, "Whether its people may be at home in other clouds of Entra."),
        ]
    }
}

extension AppFiles {
    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String { TableKey<AppFileEntry>.documentation(of: TableKey<AppFileEntry>.all) }
}
