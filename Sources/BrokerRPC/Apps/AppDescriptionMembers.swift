import BrokerValues

/// Params that describe an app, whether its client exists already or must be registered.
package protocol AppDescribing: ParamsObject {
    var description: AppDescription { get set }
}

/// All but the name and the client id, which each method explains itself.
extension AppDescription {
    static func members(scopes: String, redirectUri: String) -> [Member<AppDescription>] {
        [
            .optional("group", \.group, "Apps of one group share accounts and refresh tokens.", .name(atMost: 128)),
            .defaulted("scopes", \.scopes, scopes, to: [], .each(.scope, atMost: 100)),
            .optional(
                "allowedScopes", \.allowedScopes,
                "The maximum of scopes and resources of its tokens; a request for others is refused. Absent: any.",
                .each(.scope, atMost: 100)),
            .optional("redirectUri", \.redirectURI, redirectUri, .text(atMost: 2048)),
            .defaulted(
                "executables", \.executables, "Absolute paths of programs that may act as it.", to: [],
                .each(.text(atMost: 4096), atMost: 64)),
            .defaulted(
                "units", \.units,
                "systemd units that may act as it: system:NAME.service or user:NAME.service; in system mode the system's alone. Without a type: of the manager that the broker runs under.",
                to: [], .each(.text(atMost: 256), atMost: 64)),
            .defaulted(
                "sandboxIds", \.sandboxIDs,
                "Sandboxes that may act as it: flatpak:ID, snap:NAME or ENGINE:ID. Without a type: a Flatpak's id, or snap.NAME.APP for the snap NAME.",
                to: [], .each(.text(atMost: 256), atMost: 64)),
            .optional(
                "query", \.query,
                "Parameters that go along with every sign-in, such as access_type; what a request says comes first.",
                .query),
            .optional(
                "resources", \.resources,
                "The resources of its tokens (RFC 8707), for requests that name none.",
                .each(.text(atMost: 2048), atMost: 16)),
            .optional(
                "mailbox", \.mailbox, "The account's name at mail servers, if it is not its username (XOAUTH2).",
                .name(atMost: 320)),
            .optional(
                "bindRefreshToken", \.bindRefreshToken,
                "Whether refresh tokens are bound to a key (RFC 9449) although access tokens are bearer tokens. Absent: where the provider is known to do so."
            ),
            .optional(
                "offlineAccess", \.offlineAccess,
                "Whether sign-ins ask for offline_access: always, or never. Absent: unless the provider does not offer or refuses it."
            ),
        ]
    }
}
