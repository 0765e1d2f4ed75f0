import BrokerValues

package enum ImportCache: AdministrationMethod {
    package static let name = "cache.import"
    package static let summary = "Takes over accounts and tokens that MSAL saved."
    package static let description = """
        Tokens go to the registered apps with their client id at their provider, or to the named app. The broker's \
        own tokens stay unless older. People who have signed out of the app stay signed out. Invalid entries are \
        reported and left out; fields that it does not know are kept. A cache larger than a line is sent in parts, \
        account by account.
        """
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [.appNotFound, .accessDenied, .grantRequired, .locked, .throttled]
    package static let resultName = "import"
    package typealias Result = CacheImportReport

    package struct Params: OptionalAppParams {
        package var cache: JSONObject = [:]
        package var selection = AppSelection()

        package var reach: AppReach { .everything }

        package init() {}
        package init(cache: JSONObject) { self.cache = cache }

        package static let members: [Member<Params>] =
            [
                .required(
                    "cache", \.cache,
                    "The file, or a part of it: AccessToken, RefreshToken, IdToken, Account, AppMetadata.")
            ]
            + appMembers(\.selection)
    }
}

extension CacheImportReport: MessageObject {
    package static let members: [Member<CacheImportReport>] = [
        .required("accounts", \.accounts, "Accounts that were taken."),
        .required("refreshTokens", \.refreshTokens, "Refresh tokens of one client."),
        .required("familyRefreshTokens", \.familyRefreshTokens, "Refresh tokens of a family of clients."),
        .required("accessTokens", \.accessTokens, "Access tokens that are still valid."),
        .required("idTokens", \.idTokens, "ID tokens."),
        .required("appMetadata", \.appMetadata, "Clients whose family is known now."),
        .required("older", \.older, "Left out, because the broker's own are not older."),
        .required("expired", \.expired, "Access tokens left out, because they have expired."),
        .required(
            "problems", \.problems,
            "Entries that are not in order, and people who have signed out; one sentence each."),
        .required("unregistered", \.unregistered, "Clients with refresh tokens that no app is registered for."),
    ]
}

extension UnregisteredClient: MessageObject {
    package init() { self.init(clientID: "", environment: "", authority: "") }

    package static let members: [Member<UnregisteredClient>] = [
        .required("clientId", \.clientID, "Its client id."),
        .required("environment", \.environment, "The source of its tokens according to the file."),
        .required("authority", \.authority, "The most likely authority for its registration."),
    ]
}
