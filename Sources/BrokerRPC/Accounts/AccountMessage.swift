import BrokerValues

extension Account: MessageObject {
    package init() { self.init(id: "", username: "", environment: "", homeAccountId: "", authority: "") }

    package static var componentName: String? { "Account" }

    package static let members: [Member<Account>] = [
        .required("id", \.id, "Opaque; the same for as long as the account exists, also across sign-out and sign-in."),
        .required("username", \.username, "The name that the person signs in with, if the provider gives it."),
        .optional("name", \.name, "The person's name, for display."),
        .required("environment", \.environment, "Host of the authority, and its port where it is not the usual one."),
        .optional("tenantId", \.tenantId, "Tenant of the account, at providers that have tenants."),
        .required(
            "homeAccountId", \.homeAccountId,
            "Names the person across apps: uid.utid at Entra, else subject and issuer."),
        .required("authority", \.authority, "The issuer URL the account signed in at."),
        .required("signedIn", \.signedIn, "False after a sign-out, until the next sign-in."),
        .optional(
            "signInEndsOn", \.signInEndsOn,
            "In lists, of an account without a refresh token, as after the provider refused it: when its last access token ends. From then on only a new sign-in helps."
        ),
        .optional("claims", \.claims, "The ID token's claims, without those that only protect the token."),
        .optional(
            "tenantProfiles", \.tenantProfiles,
            "The account in each tenant it has signed in to, home first; only at providers that have tenants."),
    ]
}
