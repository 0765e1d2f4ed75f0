import BrokerValues

package enum ExportCache: AdministrationMethod {
    package static let name = "cache.export"
    package static let summary = "Begins a backup of the person's apps, accounts and tokens, sealed with a passphrase."
    package static let description = """
        It contains registrations with their secrets, accounts, sign-out marks, refresh and ID tokens and the keys of DPoP \
        tokens, but no access tokens. The broker seals: answers contain tokens only as part of the sealed file, which \
        cache.exportPart returns. A transfer ends a minute after its last part, and with a lock.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked, .throttled]
    package static let resultName = "transfer"
    package typealias Result = CacheTransfer
    package static func presence(for params: Params) -> PresenceNeed { .always() }

    package struct Params: ParamsObject {
        package var passphrase = ""
        package init() {}
        package init(passphrase: String) { self.passphrase = passphrase }
        package static let members: [Member<Params>] = [
            .required("passphrase", \.passphrase, "Opens the backup; at least 8 characters.", .passphrase)
        ]
    }
}

package struct CacheTransfer: MessageObject, Equatable {
    package var transfer = ""
    package init() {}
    package init(_ transfer: String) { self.transfer = transfer }
    package static let members: [Member<CacheTransfer>] = [
        .required("transfer", \.transfer, "Names the backup in the requests that follow.")
    ]
}

package enum ExportCachePart: AdministrationMethod {
    package static let name = "cache.exportPart"
    package static let summary = "The next part of a backup."
    package static let description =
        "The concatenated parts are the file; it is unusable without the last one."
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "part"
    package typealias Params = CacheTransfer.Params

    package struct Result: MessageObject, Equatable {
        package var data = ""
        package var done = false
        package init() {}
        package init(data: String, done: Bool) { (self.data, self.done) = (data, done) }
        package static let members: [Member<Result>] = [
            .required("data", \.data, "Bytes of the file, in base64.", .bytes),
            .required("done", \.done, "Whether it was the last part."),
        ]
    }
}

extension CacheTransfer {
    package struct Params: ParamsObject {
        package var transfer = ""
        package init() {}
        package init(transfer: String) { self.transfer = transfer }
        package static let members: [Member<Params>] = [
            .required("transfer", \.transfer, "From the answer to the first request.", .name(atMost: 64))
        ]
    }
}

extension Rule<String> {
    /// RFC 4648, section 4. The limit of a line bounds its length.
    static var bytes: Rule { Rule(schema: ["contentEncoding": "base64"]) { _ throws(WireError) in } }
}
