import BrokerValues

package enum ImportCachePart: AdministrationMethod {
    package static let name = "cache.importPart"
    package static let summary = "Hands in a part of a backup."
    package static let description = """
        The first part is sent without a transfer, and its answer names one; the others follow in order. The parts are kept \
        sealed until cache.importBackup, or for a minute after the last part.
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
            .optional("transfer", \.transfer, "From the answer to the first part.", .name(atMost: 64)),
            .required("data", \.data, "Bytes of the file, in base64; half a MiB fits into a line.", .bytes),
        ]
    }
}

package enum ImportBackup: AdministrationMethod {
    package static let name = "cache.importBackup"
    package static let summary = "Adds the content of a backup, when all of it is there, to what the broker has."
    package static let description = """
        Nothing is changed before the whole file has been verified. Then what is not here is added: an account that is \
        signed in here with live tokens, or has signed out here, is left so and named in problems. A registration of the same name \
        that differs is left and named, too, unless replaceApps. After accessDenied (wrongPassphrase) the transfer can be \
        retried.
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
            .required("transfer", \.transfer, "From the answer to the first part.", .name(atMost: 64)),
            .required("passphrase", \.passphrase, "The backup's passphrase.", .passphrase),
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
        .required("problems", \.problems, "Items that were left out or unchanged, with the reason; one sentence each."),
    ]
}

extension CacheRestoreReport.Tally: MessageObject {
    package static let members: [Member<CacheRestoreReport.Tally>] = [
        .required("added", \.added, "Were not here."),
        .required("replaced", \.replaced, "Took the place of others: registrations with replaceApps."),
        .required("kept", \.kept, "Left as they are here, or signed out here."),
    ]
}
