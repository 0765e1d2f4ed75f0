import BrokerValues

package enum ClearCache: AdministrationMethod {
    package static let name = "cache.clear"
    package static let summary = "Erases all accounts and tokens."
    package static let description = """
        Also removes the keys of DPoP tokens, sign-out marks and learned facts about clients; waiting sign-ins end. The \
        registered apps stay, with their secrets. The results of refreshes in progress are revoked, not kept.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "erasure"
    package typealias Result = ErasureReport

    package struct Params: ParamsObject {
        package var revoke = false
        package var correlationId: String?

        package init() {}

        package static let members: [Member<Params>] = [
            .defaulted("revoke", \.revoke, "True revokes the refresh tokens at their providers.", to: false),
            .correlationID(\.correlationId),
        ]
    }
}
