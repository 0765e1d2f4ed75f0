import BrokerValues

/// A registered app as callers see it: without its secret.
@dynamicMemberLookup
package struct App: MessageObject, Equatable {
    package var description = AppDescription()
    package var authority = ""
    package var confidential = false
    package var tokenEndpointAuthMethod: ClientSecretMethod?
    package var instanceAware = false
    package var source: String?

    package init() {}

    package subscript<Value>(dynamicMember path: KeyPath<AppDescription, Value>) -> Value {
        description[keyPath: path]
    }

    package static let componentName: String? = "App"
    package static let members: [Member<App>] = [
        .required("name", \.description.name, "The app's name in requests."),
        .required("clientId", \.description.clientID, "Its client id at the provider."),
        .required("authority", \.authority, "The issuer URL it signs in at."),
        .optional(
            "group", \.description.group,
            "Apps of one group share accounts and refresh tokens; absent: a group of its own."),
        .required("scopes", \.description.scopes, "The scopes it usually asks for."),
        .optional(
            "allowedScopes", \.description.allowedScopes,
            "Scopes and resources that its tokens may have at most; absent: any."),
        .optional(
            "redirectUri", \.description.redirectURI, "As registered at the provider; absent: loopback, any port."),
        .required("executables", \.description.executables, "Paths of programs that may act as it."),
        .required("units", \.description.units, "systemd units that may act as it."),
        .required("sandboxIds", \.description.sandboxIDs, "Sandboxes that may act as it."),
        .optional("query", \.description.query, "Parameters that go along with every sign-in."),
        .optional("resources", \.description.resources, "The resources of its tokens; absent: the scopes decide."),
        .optional(
            "mailbox", \.description.mailbox, "The account's name at mail servers; absent: its username (XOAUTH2)."),
        .optional(
            "bindRefreshToken", \.description.bindRefreshToken,
            "Whether refresh tokens are bound to a key (RFC 9449) although access tokens are bearer tokens; absent: where the provider is known to do so."
        ),
        .optional(
            "offlineAccess", \.description.offlineAccess,
            "Whether sign-ins ask for offline_access: always, or never; absent: it depends on the provider."),
        .required("confidential", \.confidential, "Whether it has a client secret."),
        .optional(
            "tokenEndpointAuthMethod", \.tokenEndpointAuthMethod,
            "How the secret is sent; absent: as in the provider's metadata."),
        .defaulted(
            "instanceAware", \.instanceAware, "Whether its people may be at home in other clouds of Entra.", to: false),
        .optional("source", \.source, "File and line that register it; absent: apps.register did."),
    ]
}
