import BrokerValues

/// What whoever registers an app says of it, whether the client is there already or is to be made.
package protocol AppDescription: ParamsObject {
    var name: String { get }
    var authority: String { get }
    var group: String? { get set }
    var scopes: [String] { get set }
    var redirectUri: String? { get set }
    var executables: [String] { get set }
    var units: [String] { get set }
    var sandboxIds: [String] { get set }
}

extension AppDescription {
    /// All but the name and the authority, which each method explains itself.
    static func descriptionMembers(scopes: String, redirectUri: String) -> [Member<Self>] {
        [
            .optional("group", \.group, "Apps of one group share accounts and refresh tokens.", .name(atMost: 128)),
            .defaulted("scopes", \.scopes, scopes, to: [], .each(.scope, atMost: 100)),
            .optional("redirectUri", \.redirectUri, redirectUri, .text(atMost: 2048)),
            .defaulted(
                "executables", \.executables, "Absolute paths of programs that may act as it.", to: [],
                .each(.text(atMost: 4096), atMost: 64)),
            .defaulted(
                "units", \.units, "systemd units that may act as it.", to: [], .each(.text(atMost: 256), atMost: 64)),
            .defaulted(
                "sandboxIds", \.sandboxIds, "Flatpak application ids or snap.NAME.APP that may act as it.", to: [],
                .each(.text(atMost: 256), atMost: 64)),
        ]
    }
}
