import BrokerLink
import BrokerRPC
import BrokerValues

struct PartitionsCommand: Noun {
    static var about: About {
        About(
            "partitions", "See whose records a broker for all users has, and erase one's. For root.",
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
            "list", "List the users who have something in the vault.",
            """
            Counts only. What the records say is their users' business, and not root's.

            Examples:
              sudo brokerctl partitions list
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListPartitions.self, .init()) { answer in
            let partitions = answer.partitions
            guard !partitions.isEmpty else { return "Nobody has anything in the vault.\n" }
            var table = Table("UID", "RECORDS")
            for partition in partitions { table.add(String(partition.uid), String(partition.records)) }
            return table.text(in: context.output.layout)
        }
    }
}

struct RemovePartitionCommand: Subcommand {
    static var about: About {
        About(
            "remove", "Erase everything that the broker has of a user.",
            """
            Apps, accounts, tokens, grants and audit log, and the key that opens them. Nothing is revoked at providers. For an \
            account that was deleted, before its uid is given to another.

            Examples:
              sudo brokerctl partitions remove 1004
            """)
    }

    var global = GlobalOptions()
    var uid: UInt32 = 0
    var confirmation = Confirmation()

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.argument("uid", &uid, "The user, by number.")
        arguments.group(&confirmation)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try confirmation.ask { "Erase everything of uid \(uid)?" }
        try context.tell(RemovePartition.self, .init(uid: uid)) {
            "Erased \($0.removed) record\($0.removed == 1 ? "" : "s") of uid \(uid).\n"
        }
    }
}
