import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ClearCacheCommand: Subcommand {
    static var about: About {
        About(
            "clear", "Erase all accounts and tokens.",
            """
            Everybody has to sign in again. The registered apps stay, with their secrets. The browser stays signed in, \
            and without --revoke the erased tokens remain valid at the providers until they expire.

            Examples:
              brokerctl cache clear
              brokerctl cache clear --revoke --yes
            """)
    }

    var global = GlobalOptions()
    var revoke = false
    var confirmation = Confirmation()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.flag("revoke", &revoke, "Revoke the refresh tokens at their providers, too.")
        arguments.group(&confirmation)
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try confirmation.ask { () throws(BrokerClientError) in
            let statistics = try context.connection.call(GetCacheStatistics.self, .init())
            return "Erase "
                + ErasureText.counts(statistics.accounts, statistics.records.refreshTokens, of: "refresh token") + "?"
        }
        var params = ClearCache.Params()
        params.revoke = revoke
        let node = try context.answer(to: ClearCache.self, params)
        let report = try ClearCache.Result.decoded(node)
        context.output.result(node) {
            ErasureText.text(report, of: ErasureText.counts(report.accounts, report.tokens, of: "token"))
        }
        try ErasureText.requireRevocation(report)
    }
}

package enum ErasureText {
    static func counts(_ accounts: Int, _ tokens: Int, of kind: String) -> String {
        "\(accounts) account\(accounts == 1 ? "" : "s") and \(tokens) \(kind)\(tokens == 1 ? "" : "s")"
    }

    /// - Throws: if a requested revocation failed, which the text has already reported.
    static func requireRevocation(_ report: ErasureReport) throws(BrokerClientError) {
        if case .failed = report.revocation { throw BrokerClientError(.reported, "Not everything could be revoked.") }
    }

    /// - Parameter what: the erased items.
    package static func text(_ report: ErasureReport, of what: String) -> String {
        let provider =
            switch report.revocation {
            case .skipped: ""
            case .done: "The providers have been notified.\n"
            case .failed(let why): "Not everything could be revoked: \(why.clean)\n"
            }
        return "Erased \(what).".clean + "\n\(provider)"
    }
}
