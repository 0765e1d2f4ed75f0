import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

struct ImportCacheCommand: Subcommand {
    static var about: About {
        About(
            "import", "Add the sign-ins of a backup to those of the broker.",
            """
            The whole file is verified before anything changes. Accounts that are signed in here, or that you signed \
            out of, are left unchanged and listed; importing twice does no harm. To import a cache of MSAL, use \
            `brokerctl import msal-cache`.

            Examples:
              brokerctl cache import ~/broker.backup
              pass show backup | brokerctl cache import ~/broker.backup --stdin --replace
            """)
    }

    var global = GlobalOptions()
    var file = ""
    var replace = false
    var asking = PassphraseOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("file", &file, "A file written by brokerctl cache export.", completing: .files)
        arguments.flag(
            "replace", &replace, "Replace apps that differ with the backup's apps of the same name.")
        arguments.group(&asking)
    }

    /// Fits well within a line even as base64.
    private static let partCount = 512 << 10

    func run(in context: CommandContext) throws(BrokerClientError) {
        guard access(file, R_OK) == 0 else { throw unreadable() }
        // This fails before the user types anything.
        _ = try context.connection.call(GetCacheStatistics.self, .init())
        // The broker keeps the parts for only a minute, so the question, which may take longer, comes first.
        let passphrase = try asking.read("Passphrase of the backup")
        let transfer = try send(in: context)
        var params = ImportBackup.Params(transfer: transfer, passphrase: passphrase)
        params.replaceApps = replace
        try context.tell(ImportBackup.self, params) { BackupText.text($0, now: Output.now, in: context.output.layout) }
    }

    /// - Returns: the broker's id of the transfer.
    private func send(in context: CommandContext) throws(BrokerClientError) -> String {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable() }
        defer { close(descriptor) }
        var transfer: String?
        while true {
            // That many bytes if the file has them, and of a pipe at most 16 KiB more.
            guard let part = readFile(descriptor, atMost: Self.partCount - 1) else { throw unreadable() }
            // An empty file is sent as well: the broker reports that it is not a backup.
            if part.isEmpty, let transfer { return transfer }
            transfer = try ImportCachePart.Result.decoded(
                try context.answer(
                    to: ImportCachePart.self, .init(transfer: transfer, data: base64Text(part)))
            ).transfer
        }
    }

    private func unreadable() -> BrokerClientError {
        BrokerClientError(.invalidParameter, "\(file) cannot be read: \(errnoText(errno)).")
    }
}

package enum BackupText {
    /// The part of the cache that a backup contains.
    package static func contents(_ all: CacheStatistics) -> String {
        let counts = [
            (all.records.apps, "app"), (all.accounts, "account"), (all.records.refreshTokens, "refresh token"),
            (all.records.proofKeys, "DPoP key"),
        ]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let kept = words.isEmpty ? "nothing, because there are no records" : words.joined(separator: ", ")
        return "\(kept). Access tokens and grants are not in it."
    }

    package static func text(_ report: CacheRestoreReport, now: NumericDate, in layout: Layout = .plain) -> String {
        var facts = Facts()
        facts.add("Made", TimeText.relative(report.createdOn, to: now))
        facts.add("Apps", words(report.apps))
        facts.add("Accounts", words(report.accounts))
        facts.add("Refresh tokens", words(report.refreshTokens))
        facts.add("ID tokens", words(report.idTokens))
        facts.add("DPoP keys", report.proofKeys == .init() ? nil : words(report.proofKeys))
        return facts.text(in: layout) + report.problems.map { $0.clean + "\n" }.joined()
    }

    private static func words(_ tally: CacheRestoreReport.Tally) -> String {
        let parts = [(tally.added, "added"), (tally.replaced, "replaced"), (tally.kept, "left as they are")]
        let words = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return words.isEmpty ? "none" : words.joined(separator: ", ")
    }
}
