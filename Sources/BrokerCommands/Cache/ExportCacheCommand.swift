import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc
import Synchronization

struct ExportCacheCommand: Subcommand {
    static var about: About {
        About(
            "export", "Save apps, accounts and tokens to a file protected by a passphrase.",
            """
            Anyone with the file and the passphrase has your sign-ins: choose a long passphrase, and keep it \
            elsewhere. The file contains no access tokens, and approvals of programs stay with this machine. The \
            broker seals the file; this command never sees a token. Providers that rotate refresh tokens refuse those \
            of an old backup.

            Examples:
              brokerctl cache export ~/broker.backup
              pass show backup | brokerctl cache export /mnt/stick/broker.backup --stdin --force
            """)
    }

    var global = GlobalOptions()
    var file = ""
    var force = false
    var asking = PassphraseOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("file", &file, "The file to write, mode 0600.", completing: .files)
        arguments.flag("force", &force, "Replace an existing file.")
        arguments.group(&asking)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        // Checked before the user types a passphrase.
        try NewFile.check(file, replacing: force)
        let status = try context.connection.call(GetBrokerStatus.self, .init())
        // This also fails before the user types anything.
        let contents = try context.connection.call(GetCacheStatistics.self, .init())
        if status.mode == .system, geteuid() == 0 {
            context.output.aside(
                "This broker serves every user, and the backup will hold only root's own records. Each user makes "
                    + "one of theirs; to copy the whole vault, see operations.md, "
                    + "\"Restore the machine's broker elsewhere\".")
        }
        let passphrase = try asking.read("Passphrase of the backup", isNew: true)
        let begun = try context.answer(to: ExportCache.self, .init(passphrase: passphrase))
        let transfer = try ExportCache.Result.decoded(begun).transfer
        // From here on, Ctrl-C removes the unfinished file.
        Interrupt.onInterrupt {}
        let target = try NewFile(at: file, replacing: force)
        var isDone = false
        while !isDone {
            let part = try context.connection.call(ExportCachePart.self, .init(transfer: transfer))
            guard let bytes = bytesOfAnyBase64(part.data) else {
                throw BrokerClientError(.invalidResponse, "The broker's answer is not part of a backup.")
            }
            guard Interrupt.received.load(ordering: .relaxed) == 0 else {
                throw BrokerClientError(.userCanceled, "Nothing was saved.")
            }
            try target.write(bytes)
            isDone = part.done
        }
        try target.publish()
        let records = contents.records
        let node = JSONText.node(
            of: [
                "file": .string(file), "bytes": .integer(Int64(target.count)), "apps": .integer(Int64(records.apps)),
                "accounts": .integer(Int64(contents.accounts)),
                "refreshTokens": .integer(Int64(records.refreshTokens)),
            ] as JSONValue)
        context.output.result(node) {
            "Saved to \(file), \(CacheText.size(target.count)): ".clean + BackupText.contents(contents) + "\n"
        }
    }
}
