import BrokerValues

extension CallerTier: WireChoice {}
extension GrantChange: WireChoice {}

extension CallerIdentity: MessageObject {
    package static let componentName: String? = "Caller"
    package init() { self.init(tier: .unidentified, id: "") }

    package static let members: [Member<CallerIdentity>] = [
        .requiredOpen("tier", \.tier, "How hard it is for another program of the person to pass for it."),
        .required(
            "id", \.id,
            "A sandbox's name (flatpak:ID, snap:NAME, ENGINE:ID), a label, a unit (system:NAME.service) or a path.",
            .anyText(atMost: 8192)),
    ]
}

extension Grant: MessageObject {
    package static let componentName: String? = "Grant"
    package init() { self.init(id: "", caller: CallerIdentity(), app: "", createdOn: 0) }

    package static let members: [Member<Grant>] = [
        .required("id", \.id, "For grants.revoke."),
        .required("caller", \.caller, "The caller that may use the app."),
        .required("app", \.app, "The app's name, or the identity of a client without a registration."),
        .optional("account", \.accountID.reference, Grant.accountSummary),
        .optional("scopes", \.scopes, "The maximum of scopes and resources of tokens; absent: any."),
        .required("createdOn", \.createdOn, "Seconds since 1970."),
        .optional("expiresOn", \.expiresOn, "Seconds since 1970; absent: it has no end."),
        .optional("lastUsedOn", \.lastUsedOn, "Seconds since 1970; absent: it was not used yet."),
        .required("uses", \.uses, "The number of requests that it admitted."),
        .optional("facts", \.facts, "The facts that identified the caller when it asked."),
    ]

    fileprivate static let accountSummary =
        "Limited to this account's tokens; absent: all accounts of the app's group. An id username:NAME is no account's: not exactly one had the name that was asked for."
}

extension GrantRequest: MessageObject {
    package static let componentName: String? = "GrantRequest"
    package init() { self.init(id: "", caller: CallerIdentity(), app: "", requestedOn: 0) }

    package static let members: [Member<GrantRequest>] = [
        .required("id", \.id, "For grants.approve and grants.deny."),
        .required("caller", \.caller, "The requesting caller."),
        .required("app", \.app, "The app's name, or the identity of a client without a registration."),
        .optional("clientId", \.clientID, "The id of a client without a registration."),
        .optional("authority", \.authority, "Issuer URL of the app or client."),
        .optional("account", \.accountID.reference, Grant.accountSummary),
        .optional(
            "scopes", \.scopes,
            "The scopes and resources of the tokens that were asked for; absent: more than tokens, or anything."),
        .required("requestedOn", \.requestedOn, "Seconds since 1970."),
        .required("facts", \.facts, "The facts that identified the caller."),
    ]
}

extension String? {
    /// An account's id as a reference to it.
    fileprivate var reference: AccountReference? {
        get { map { .id($0) } }
        set { self = newValue?.id }
    }
}

extension AccountReference {
    fileprivate var id: String? { if case .id(let id) = self { id } else { nil } }
}
