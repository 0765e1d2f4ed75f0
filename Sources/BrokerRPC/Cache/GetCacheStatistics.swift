import BrokerValues

package enum GetCacheStatistics: AdministrationMethod {
    package static let name = "cache.stats"
    package static let summary = "How much the broker keeps, and of what."
    package static let description = "Counts and sizes of the person's own records; nothing of what is in them."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "statistics"
    package typealias Params = Empty
    package typealias Result = CacheStatistics
}

extension CacheStatistics: MessageObject {
    package static let members: [Member<CacheStatistics>] = [
        .required("records", \.records, "On disk, by kind."),
        .required("apps", \.apps, "Registered apps, those of files included."),
        .required("accounts", \.accounts, "People, each counted once however many groups know them."),
        .required("signedIn", \.signedIn, "The number that are signed in."),
        .required("groups", \.groups, "Groups with accounts."),
        .required("recordBytes", \.recordBytes, "Bytes of the person's records, sealed."),
        .required("fileBytes", \.fileBytes, "Bytes of the vault's files on disk, with the records of all users."),
        .required("cacheBytes", \.cacheBytes, "Roughly the bytes of accounts and tokens that are in memory."),
        .optional("residentBytes", \.residentBytes, "Memory of the whole broker, as the kernel counts it."),
    ]
}

extension CacheStatistics.Records: MessageObject {
    package static let members: [Member<CacheStatistics.Records>] = [
        .required("accounts", \.accounts, "Accounts: one for each group and tenant."),
        .required("accessTokens", \.accessTokens, "Access tokens, expired ones included."),
        .required("refreshTokens", \.refreshTokens, "Refresh tokens."),
        .required("idTokens", \.idTokens, "ID tokens."),
        .required("proofKeys", \.proofKeys, "Keys of DPoP tokens."),
        .required("signOuts", \.signOuts, "Marks of apps that signed out of an account that others use."),
        .required("clients", \.clients, "Clients of which it is known whether they are of a family."),
        .required("apps", \.apps, "Registrations in the vault."),
        .required("grants", \.grants, "Grants to callers."),
        .required("documents", \.documents, "Discovery documents and signing keys of providers."),
        .required("audit", \.audit, "Rows of the audit log."),
    ]
}
