import BrokerValues

/// Params that describe an app, whether the client is there already or is to be made.
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
                "The scopes and resources that its tokens may have at most; a request for others is refused. Absent: any.",
                .each(.scope, atMost: 100)),
            .optional("redirectUri", \.redirectURI, redirectUri, .text(atMost: 2048)),
            .defaulted(
                "executables", \.executables, "Absolute paths of programs that may act as it.", to: [],
                .each(.text(atMost: 4096), atMost: 64)),
            .defaulted(
                "units", \.units, "systemd units that may act as it.", to: [], .each(.text(atMost: 256), atMost: 64)),
            .defaulted(
                "sandboxIds", \.sandboxIDs, "Flatpak application ids or snap.NAME.APP that may act as it.", to: [],
                .each(.text(atMost: 256), atMost: 64)),
        ]
    }
}
