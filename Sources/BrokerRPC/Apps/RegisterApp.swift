import BrokerValues

package enum RegisterApp: AdministrationMethod {
    package static let name = "apps.register"
    package static let summary = "Makes an app known, or replaces the one of that name."
    package static let description = """
        The client secret goes into the vault and is never shown again. The callers that may act as the app are listed in executables, \
        units and sandboxIds; if all three are empty, any process of the person outside of sandboxes may.
        """
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [.invalidAuthority, .accessDenied, .throttled, .invalidResponse]
    package static let resultName = "app"
    package static func presence(for params: Params) -> PresenceNeed { .always(apps: [params.description.name]) }

    package struct Params: AppDescribing {
        package var description = AppDescription()
        package var authority = ""
        package var clientSecret: String?
        package var tokenEndpointAuthMethod: ClientSecretMethod?
        package var instanceAware = false
        package var replace = true
        package var keepClientSecret = false
        package var checkAuthority = false

        package init() {}
        package init(name: String, clientId: String, authority: String) {
            description = AppDescription(name: name, clientID: clientId)
            self.authority = authority
        }

        package static let members: [Member<Params>] =
            [
                .required("name", \.description.name, "The app's name in requests.", .name(atMost: 128)),
                .required("clientId", \.description.clientID, "Its client id at the provider.", .name(atMost: 512)),
                .required("authority", \.authority, "The issuer URL it signs in at.", .text(atMost: 2048)),
            ]
            + AppDescription.members(
                scopes: "The scopes it usually asks for.",
                redirectUri:
                    "As registered at the provider, with a fixed port if it has one. Absent: loopback, any port."
            ).inside(\.description) + [
                .optional(
                    "clientSecret", \.clientSecret, "Makes the app a confidential client (RFC 6749, section 2.1).",
                    .text(atMost: 4096)),
                .optional(
                    "tokenEndpointAuthMethod", \.tokenEndpointAuthMethod,
                    """
                    How the client secret is sent, as the client is registered at the provider; absent: as the provider's \
                    metadata say.
                    """),
                .defaulted(
                    "instanceAware", \.instanceAware,
                    """
                    Microsoft Entra: its users' home may be in other clouds than the authority's own. Not with a client \
                    secret.
                    """, to: false),
                .defaulted(
                    "replace", \.replace,
                    "False refuses where an app of that name is registered, and says what its replacement would drop.",
                    to: true),
                .defaulted(
                    "keepClientSecret", \.keepClientSecret,
                    """
                    Without a clientSecret, the replaced app's secret is kept: for changes of its other \
                    members. Not with another client id or authority.
                    """, to: false),
                .defaulted(
                    "checkAuthority", \.checkAuthority,
                    "True reads the authority's metadata first, and registers nothing where an answer holds none.",
                    to: false),
            ]
    }

    package struct Result: MessageObject {
        package var app = App()
        package var provider: ProviderOutline?
        package var unreached: String?
        package init() {}
        package init(app: App) { self.app = app }
        package static let members: [Member<Result>] = [
            .required("app", \.app, "The app as it is now registered."),
            .optional("provider", \.provider, "The authority's metadata; only with checkAuthority."),
            .optional("unreached", \.unreached, "Why no metadata could be read; the app is registered all the same."),
        ]
    }
}
