import BrokerValues

package enum ListPartitions: OwnershipMethod {
    package static let name = "partitions.list"
    package static let summary = "Whose records a broker in system mode has."
    package static let description =
        "Whose they are and how much there is, in the order of the uids; nothing of accounts at providers, apps or tokens. In user mode it is unsupported."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied, .unsupported]
    package static let resultName = "partitions"
    package typealias Params = Empty

    package struct Result: MessageObject {
        package var partitions: [UserPartition] = []
        package init() {}
        package init(partitions: [UserPartition]) { self.partitions = partitions }
        package static let members: [Member<Result>] = [.required("partitions", \.partitions, "One a user.")]
    }
}

package struct UserPartition: MessageObject, Equatable {
    package var uid: Int64 = 0
    package var account: String?
    package var state = ""
    package var records: Int64 = 0
    package var bytes: Int64 = 0
    package var lastUsedOn: NumericDate?

    package init() {}

    package init(
        uid: UInt32, account: String?, state: String, records: Int, bytes: Int, lastUsedOn: NumericDate?
    ) {
        (self.uid, self.records, self.bytes) = (Int64(uid), Int64(records), Int64(bytes))
        (self.account, self.state, self.lastUsedOn) = (account, state, lastUsedOn)
    }

    package static let componentName: String? = "UserPartition"
    package static let members: [Member<UserPartition>] = [
        .required("uid", \.uid, "The user's uid."),
        .optional("account", \.account, "The account's name when its first record was written."),
        .required(
            "state", \.state,
            "`present`: that account has the uid; `gone`: none has it; `otherAccount`: another one has it; `unknown`: nothing says it now."
        ),
        .required("records", \.records, "How many records there are, without those of the audit log."),
        .required("bytes", \.bytes, "Size of all of them, sealed."),
        .optional("lastUsedOn", \.lastUsedOn, "The time of the newest entry in the user's audit log."),
    ]
}
