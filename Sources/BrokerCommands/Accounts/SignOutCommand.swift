import ArgumentParser
import BrokerClient
import BrokerRPC

struct SignOutCommand: WaitingSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "Sign an account out of one app, or of all.",
        discussion: """
            Without --app, no app of any group keeps a token of the account. What could not be done is named; the exit \
            status is 0 when no token is left here.
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: ArgumentHelp("A username or an account's id.", valueName: "account"))
    var account: AccountName

    @Option(help: ArgumentHelp("Sign out of this app only.", valueName: "name"))
    var app: String?

    @Flag(help: "With --app: of all apps of its group.")
    var wipe = false

    @Flag(help: "Make the refresh tokens worthless at the provider.")
    var revoke = false

    @Flag(help: "End the browser's session with the provider, too.")
    var browser = false

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        var params = SignOutAccount.Params(.id(try accountID(DirectConnection(location: location))))
        params.app = app
        params.wipe = wipe
        params.revoke = revoke
        params.fromBrowser = browser
        let (asked, connection) = (params, BrokerConnection(location: location))
        let signOut = Task { () async -> Result<JSONNode, BrokerClientError> in
            do throws(BrokerClientError) {
                return .success(
                    try await InteractiveSession.run(asked, on: connection, browser: SignOutPage(output: output)))
            } catch {
                return .failure(error)
            }
        }
        Interrupt.onInterrupt { signOut.cancel() }
        let node: JSONNode
        do throws(BrokerClientError) {
            node = try await signOut.value.get()
        } catch {
            guard error.code == .canceled else { throw error }
            throw BrokerClientError(
                .userCanceled, "You are signed out here; the browser may still be signed in.", cause: error)
        }
        let stages = try SignOutAccount.Result.understood(node).stages
        output.result(node) { SignOutWords.facts(stages).text(emphasis: output.style.strong) }
        guard stages.local == "done" else {
            throw BrokerClientError(.internal, "Not everything of \(account.text) could be removed here.")
        }
    }

    private func accountID(_ connection: DirectConnection) throws(BrokerClientError) -> String {
        for reference in account.references {
            var params = GetAccount.Params(reference)
            params.app = app
            if let found = try connection.call(GetAccount.self, params).account { return found.id }
        }
        throw BrokerClientError(
            .accountNotFound, "There is no account \(account.text); brokerctl accounts list shows those there are.")
    }
}

/// The provider's page, in the person's browser or as an address to open by hand.
private struct SignOutPage: BrowserOpening {
    let output: Output

    func open(_ page: SignInPage) async throws {
        do {
            try await SystemBrowser().open(page)
            output.aside("Your browser shows the provider's page; waiting until it is done (Ctrl-C leaves it).")
        } catch {
            output.aside("You are signed out here. Open this page to sign out in your browser (Ctrl-C leaves it):")
            if output.json { output.aside(page.url.clean) } else { output.line(page.url.clean) }
        }
    }
}

package enum SignOutWords {
    package static func facts(_ stages: SignOutAccount.Stages) -> Facts {
        var facts = Facts()
        let parts = [
            ("This app", stages.local), ("All apps", stages.wipe), ("Provider", stages.revocation),
            ("Browser", stages.browser),
        ]
        for (name, outcome) in parts where outcome != "skipped" {
            facts.add(name, outcome == "done" ? "signed out" : outcome)
        }
        return facts
    }
}
