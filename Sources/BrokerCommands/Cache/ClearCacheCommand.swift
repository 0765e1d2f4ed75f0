import BrokerLink
import BrokerRPC
import BrokerValues

struct ClearCacheCommand: Subcommand {
    static var about: About {
        About(
            "clear", "Erase all accounts and tokens.",
            """
            Everybody has to sign in again. The registered apps stay, with their secrets. The browser stays signed in, and \
            without --revoke what was erased is good at the providers for as long as it would have been.

            Examples:
              brokerctl cache clear
              brokerctl cache clear --revoke --yes
            """)
    }

    var global = GlobalOptions()
    var revoke = false
    var yes = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.group(&global)
        arguments.flag("revoke", &revoke, "Revoke the refresh tokens at their providers, too.")
        arguments.flag("yes", &yes, short: "y", "Do not ask.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        if !yes {
            let statistics = try context.connection.call(GetCacheStatistics.self, .init())
            try Confirmation.ask(
                "Erase \(ErasureText.counts(statistics.accounts, statistics.records.refreshTokens, of: "refresh token"))?"
            )
        }
        var params = ClearCache.Params()
        params.revoke = revoke
        try context.tell(ClearCache.self, params) { report in
            ErasureText.text(report, of: ErasureText.counts(report.accounts, report.tokens, of: "token"))
        }
    }
}

/// A question that only a person at a terminal can answer.
enum Confirmation {
    /// - Throws: unless the answer is yes, or there is nobody to ask.
    static func ask(_ question: String) throws(BrokerClientError) {
        guard let answer = TerminalPrompt.line("\(question) [y/N] ") else {
            throw BrokerClientError(.invalidParameter, "There is no terminal to ask on; say --yes if you are sure.")
        }
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw BrokerClientError(.userCanceled, "Nothing was changed.")
        }
    }
}

package enum ErasureText {
    static func counts(_ accounts: Int, _ tokens: Int, of kind: String) -> String {
        "\(accounts) account\(accounts == 1 ? "" : "s") and \(tokens) \(kind)\(tokens == 1 ? "" : "s")"
    }

    /// - Parameter what: was erased.
    package static func text(_ report: ErasureReport, of what: String) -> String {
        let provider =
            switch report.revocation {
            case .skipped: ""
            case .done: "The providers have been told.\n"
            case .failed(let why): "Not everything could be revoked: \(why.clean)\n"
            }
        return "Erased \(what).".clean + "\n\(provider)"
    }
}
