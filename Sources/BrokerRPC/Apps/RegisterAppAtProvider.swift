import BrokerValues

package enum RegisterAppAtProvider: AdministrationMethod {
    package static let name = "apps.registerAtProvider"
    package static let summary = "Makes a client at the provider, and makes it known here as an app."
    package static let description = """
        Dynamic client registration (RFC 7591), if the provider offers it: a native app with the authorization code, \
        refresh and, if there is one, the device grant. A client secret from the provider is stored in the vault and \
        never shown.
        """
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [
        .unsupported, .unauthorizedClient, .offline, .serverUnavailable, .invalidAuthority, .invalidResponse,
        .accessDenied, .throttled,
    ]
    package static let resultName = "app"
    package static func presence(for params: Params) -> PresenceNeed { .always(apps: [params.description.name]) }

    package struct Params: AppDescribing {
        package var description = AppDescription()
        package var authority = ""
        package var confidential = false
        package var initialAccessToken: String?
        package var replace = true

        package init() {}
        package init(name: String, authority: String) {
            description.name = name
            self.authority = authority
        }

        package static let members: [Member<Params>] =
            [
                .required(
                    "name", \.description.name, "The app's name in requests, which people also see at the provider.",
                    .name(atMost: 128)),
                .required("authority", \.authority, "The issuer URL it signs in at.", .text(atMost: 2048)),
            ]
            + AppDescription.members(
                scopes: "The scopes it may ask for.",
                redirectUri:
                    "Registered at the provider; with a fixed port where it compares ports. Absent: loopback, any port, a path of its own."
            ).inside(\.description) + [
                .defaulted(
                    "confidential", \.confidential,
                    "True asks for a client with a secret: some providers make no other.", to: false),
                .optional(
                    "initialAccessToken", \.initialAccessToken,
                    "The provider's initial access token (RFC 7591, section 3); not kept.",
                    .text(atMost: 16384)),
                .defaulted(
                    "replace", \.replace,
                    "False refuses where an app of that name is registered, before anything is made at the provider.",
                    to: true),
            ]
    }

    package struct Result: MessageObject {
        package var app = App()
        package var clientSecretExpiresOn: NumericDate?
        package init() {}
        package init(app: App, clientSecretExpiresOn: NumericDate?) {
            self.app = app
            self.clientSecretExpiresOn = clientSecretExpiresOn
        }
        package static let members: [Member<Result>] = [
            .required("app", \.app, "The app as it is now registered."),
            .optional(
                "clientSecretExpiresOn", \.clientSecretExpiresOn,
                "Seconds since 1970; the app has to be registered anew by then. Absent: never."),
        ]
    }
}
