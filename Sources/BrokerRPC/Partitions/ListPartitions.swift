import BrokerValues

package enum ListPartitions: OwnershipMethod {
    package static let name = "partitions.list"
    package static let summary = "Whose records a broker in system mode has."
    package static let description =
        "Counts, in the order of the uids; nothing that a record says. In user mode it is unsupported."
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
    package var records: Int64 = 0

    package init() {}
    package init(uid: UInt32, records: Int) { (self.uid, self.records) = (Int64(uid), Int64(records)) }

    package static let componentName: String? = "UserPartition"
    package static let members: [Member<UserPartition>] = [
        .required("uid", \.uid, "Of the user."),
        .required("records", \.records, "How many records there are, without those of the audit log."),
    ]
}
