import BrokerValues

/// A registered app, as callers see it: without its secret.
package struct App: MessageObject, Equatable {
    package var name = ""
    package var clientId = ""
    package var authority = ""
    package var group: String?
    package var scopes: [String] = []
    package var redirectUri: String?
    package var executables: [String] = []
    package var units: [String] = []
    package var sandboxIds: [String] = []
    package var confidential = false
    package var instanceAware = false

    package init() {}

    package static let componentName: String? = "App"
    package static let members: [Member<App>] = [
        .required("name", \.name, "What requests call it."),
        .required("clientId", \.clientId, "Its client id at the provider."),
        .required("authority", \.authority, "The issuer URL it signs in at."),
        .optional("group", \.group, "Apps of one group share accounts and refresh tokens; absent: a group of its own."),
        .required("scopes", \.scopes, "The scopes it usually asks for."),
        .optional("redirectUri", \.redirectUri, "As registered at the provider; absent: loopback, any port."),
        .required("executables", \.executables, "Paths of programs that may act as it."),
        .required("units", \.units, "systemd units that may act as it."),
        .required("sandboxIds", \.sandboxIds, "Flatpak or snap applications that may act as it."),
        .required("confidential", \.confidential, "Whether it has a client secret."),
        .defaulted(
            "instanceAware", \.instanceAware, "Whether its people may be at home in other clouds of Entra.", to: false),
    ]
}
