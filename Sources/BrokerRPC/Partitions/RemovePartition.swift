import BrokerValues

package enum RemovePartition: OwnershipMethod {
    package static let name = "partitions.remove"
    package static let summary = "Erases everything that a broker in system mode has of a user."
    package static let description = """
        Their apps, accounts, tokens, grants and audit log, and the key that opens them. Their waiting sign-ins are \
        ended, and the sockets of their sandboxes closed. Nothing is revoked at providers. A user's later request \
        starts anew. In user mode it is unsupported.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .unsupported]
    package static let resultName = "removed"

    package struct Params: ParamsObject {
        package var uid: Int64 = 0
        package init() {}
        package init(uid: UInt32) { self.uid = Int64(uid) }
        package static let members: [Member<Params>] = [
            // The largest 32-bit number is not a uid.
            .required("uid", \.uid, "The user's uid.", .between(0...Int64(UInt32.max - 1)))
        ]
    }

    package struct Result: MessageObject {
        package var removed: Int64 = 0
        package init() {}
        package init(removed: Int) { self.removed = Int64(removed) }
        package static let members: [Member<Result>] = [
            .required("removed", \.removed, "How many records there were, without those of the audit log.")
        ]
    }
}
