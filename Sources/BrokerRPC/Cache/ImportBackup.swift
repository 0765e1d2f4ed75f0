import BrokerValues

package enum ImportCachePart: AdministrationMethod {
    package static let name = "cache.importPart"
    package static let summary = "Hands in a part of a backup."
    package static let description = """
        The first part goes without a transfer, and its answer names one; the others follow in their order. What came is kept \
        as it is, sealed, until cache.importBackup, or for a minute after the last part.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked, .throttled]
    package static let resultName = "transfer"
    /// A backup contains registrations. The first part asks, before the minute of the last one begins; no other caller knows the transfer.
    package static func presence(for params: Params) -> PresenceNeed { params.transfer == nil ? .always() : .none }
    package typealias Result = CacheTransfer

    package struct Params: ParamsObject {
        package var transfer: String?
        package var data = ""
        package init() {}
        package init(transfer: String?, data: String) { (self.transfer, self.data) = (transfer, data) }
        package static let members: [Member<Params>] = [
            .optional("transfer", \.transfer, "As the first part was answered.", .name(atMost: 64)),
            .required("data", \.data, "Bytes of the file, in base64; half a MiB fits into a line.", .bytes),
        ]
    }
}

package enum ImportBackup: AdministrationMethod {
    package static let name = "cache.importBackup"
    package static let summary = "Merges a backup, when all of it is there, into what the broker has."
    package static let description = """
        Nothing is changed before the whole file has been verified. Then what is newer counts: tokens of a client and an \
        account take the place of older ones only, and an account that was signed out here after the backup was made stays \
        so. Nothing else that is here goes. A registration of the same name that differs is left and named in problems, unless \
        replaceApps. After accessDenied (wrongPassphrase) the transfer can be tried again.
        """
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [.accessDenied, .locked, .throttled]
    package static let resultName = "import"
    package typealias Result = CacheRestoreReport

    package struct Params: ParamsObject {
        package var transfer = ""
        package var passphrase = ""
        package var replaceApps = false
        package init() {}
        package init(transfer: String, passphrase: String) {
            (self.transfer, self.passphrase) = (transfer, passphrase)
        }
        package static let members: [Member<Params>] = [
            .required("transfer", \.transfer, "As the first part was answered.", .name(atMost: 64)),
            .required("passphrase", \.passphrase, "What the backup was sealed with.", .passphrase),
            .defaulted(
                "replaceApps", \.replaceApps,
                "True has the backup's registrations take the place of those that differ.",
                to: false),
        ]
    }
}

extension CacheRestoreReport: MessageObject {
    package static let members: [Member<CacheRestoreReport>] = [
        .required("createdOn", \.createdOn, "When the backup was made."),
        .required("apps", \.apps, "Registrations."),
        .required("accounts", \.accounts, "Accounts: one for each group and tenant."),
        .required("refreshTokens", \.refreshTokens, "Refresh tokens."),
        .required("idTokens", \.idTokens, "ID tokens."),
        .required("proofKeys", \.proofKeys, "Keys of DPoP tokens."),
        .required("problems", \.problems, "What was left out or as it is, and why; one sentence each."),
    ]
}

extension CacheRestoreReport.Tally: MessageObject {
    package static let members: [Member<CacheRestoreReport.Tally>] = [
        .required("added", \.added, "Were not here."),
        .required("replaced", \.replaced, "Are newer than what was here."),
        .required("kept", \.kept, "What is here is as good or newer, or was signed out since."),
    ]
}
