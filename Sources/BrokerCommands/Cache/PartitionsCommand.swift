import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct PartitionsCommand: Noun {
    static var about: About {
        About(
            "partitions", "List the records of each user of a system broker, or erase one user's. For root.",
            """
            Examples:
              sudo brokerctl partitions list
            """)
    }

    static var subcommands: [any Command.Type] {
        [ListPartitionsCommand.self, RemovePartitionCommand.self]
    }
}

struct ListPartitionsCommand: Subcommand {
    static var about: About {
        About(
            "list", "List the users who have records in the vault.",
            """
            Shows the owner, number and size of the records. Their contents are not for root to see.

            The records of an account that is gone, or whose uid now has another name, stay until you erase them.

            Examples:
              sudo brokerctl partitions list
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListPartitions.self, .init()) { answer in
            let partitions = answer.partitions
            guard !partitions.isEmpty else { return "No user has records in the vault.\n" }
            let now = Output.now
            var table = Table("UID", "ACCOUNT", "STATE", "RECORDS", "SIZE", "LAST USED")
            for partition in partitions {
                table.add(
                    String(partition.uid), partition.account ?? "", PartitionText.state(partition.state),
                    String(partition.records), CacheText.size(Int(partition.bytes)),
                    partition.lastUsedOn.map { TimeText.relative($0, to: now) } ?? "never")
            }
            return table.text(in: context.output.layout)
        }
    }
}

enum PartitionText {
    /// - Parameter state: from `partitions.list`.
    static func state(_ state: String) -> String {
        switch state {
        case "present": "exists"
        case "otherAccount": "another account has the uid"
        default: state.clean
        }
    }
}

struct RemovePartitionCommand: Subcommand {
    static var about: About {
        About(
            "remove", "Erase everything that the broker stores for a user.",
            """
            This includes apps, accounts, tokens, grants, the audit log, and the key that opens them. Nothing is \
            revoked at the providers. Use it for a deleted account, before its uid is given to another.

            Examples:
              sudo brokerctl partitions remove 1004
            """)
    }

    var global = GlobalOptions()
    var uid: UInt32 = 0
    var confirmation = Confirmation()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("uid", &uid, "The user, by number.")
        arguments.group(&confirmation)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try confirmation.ask { () throws(BrokerClientError) in
            // This fails before the question.
            let all = try context.connection.call(ListPartitions.self, .init()).partitions
            let found = all.first { $0.uid == Int64(uid) }
            let whose = found?.account.map { " of \($0.clean)" } ?? ""
            return "Erase all data of uid \(uid) (\(found?.records ?? 0) records\(whose))?"
        }
        try context.tell(RemovePartition.self, .init(uid: uid)) {
            "Erased \($0.removed) record\($0.removed == 1 ? "" : "s") of uid \(uid).\n"
        }
    }
}
