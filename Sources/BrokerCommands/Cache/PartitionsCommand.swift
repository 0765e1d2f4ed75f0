import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct PartitionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "partitions", abstract: "See whose records a broker for all users has, and erase one's. For root.",
        discussion: """
            Examples:
              sudo brokerctl partitions list
            """,
        subcommands: [ListPartitionsCommand.self, RemovePartitionCommand.self])
}

struct ListPartitionsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the users who have something in the vault.",
        discussion: """
            Counts only. What the records say is their users' business, and not root's.

            Examples:
              sudo brokerctl partitions list
            """)

    @OptionGroup var global: GlobalOptions

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
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Erase everything that the broker has of a user.",
        discussion: """
            Apps, accounts, tokens, grants and audit log, and the key that opens them. Nothing is revoked at providers. For an \
            account that was deleted, before its uid is given to another.

            Examples:
              sudo brokerctl partitions remove 1004
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The user, by number.")
    var uid: UInt32

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        if !yes { try Confirmation.ask("Erase everything of uid \(uid)?") }
        try context.tell(RemovePartition.self, .init(uid: uid)) {
            "Erased \($0.removed) record\($0.removed == 1 ? "" : "s") of uid \(uid).\n"
        }
    }
}
