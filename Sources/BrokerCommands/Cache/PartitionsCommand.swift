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
            "list", "List the users who have something in the vault.",
            """
            Whose they are, how many and how large. What the records say is their users' business, and not root's.

            An account that is gone, or has another name than the uid has now, keeps its records until you erase them.

            Examples:
              sudo brokerctl partitions list
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListPartitions.self, .init()) { answer in
            let partitions = answer.partitions
            guard !partitions.isEmpty else { return "Nobody has anything in the vault.\n" }
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
        case "present": "there"
        case "otherAccount": "another account has the uid"
        default: state.clean
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
        try confirmation.ask { () throws(BrokerClientError) in
            // This fails before the question.
            let all = try context.connection.call(ListPartitions.self, .init()).partitions
            let found = all.first { $0.uid == Int64(uid) }
            let whose = found?.account.map { ", which are \($0.clean)'s" } ?? ""
            return "Erase everything of uid \(uid) (\(found?.records ?? 0) records\(whose))?"
        }
        try context.tell(RemovePartition.self, .init(uid: uid)) {
            "Erased \($0.removed) record\($0.removed == 1 ? "" : "s") of uid \(uid).\n"
        }
    }
}
