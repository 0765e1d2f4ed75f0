import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Synchronization

/// `logout`, an alias for `accounts sign-out`, because people try it first.
struct LogoutCommand: WaitingSubcommand {
    static var about: About {
        About(
            "logout", "Sign out; the same as accounts sign-out.",
            """
            With --app, or --client-id and --authority, it signs out of this app only; otherwise of all apps. The \
            account may be left out if only one is signed in.

            Examples:
              brokerctl logout
              brokerctl logout ada@example.org --app notes
            """)
    }

    var global = GlobalOptions()
    var signOut = SignOutOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&signOut)
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        try await signOut.run(at: location, output)
    }
}

struct SignOutCommand: WaitingSubcommand {
    static var about: About {
        About(
            "sign-out", "Sign an account out of one app, or of all.",
            """
            With --app, or --client-id and --authority, it signs out of this app only; otherwise no app of any group \
            keeps a token of the account. Failed parts are listed; the exit status is 0 if everything requested was \
            done.

            Examples:
              brokerctl accounts sign-out ada@example.org
              brokerctl accounts sign-out ada@example.org --app notes --revoke --browser
            """)
    }

    var global = GlobalOptions()
    var signOut = SignOutOptions()

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&signOut)
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        try await signOut.run(at: location, output)
    }
}

/// The account to sign out, the apps that lose it, and the extent.
struct SignOutOptions: ArgumentGroup {
    var account: AccountName?
    var choice = AppOptions()
    var wipe = false
    var revoke = false
    var browser = false
    var query: [QueryParameter] = []
    var timeout: Int64?
    var correlationID: String?

    mutating func declare(in arguments: inout Arguments) {
        arguments.argument(
            "account", &account, "A username or an account's id; may be left out if only one is signed in.",
            completing: LiveCompletion.accounts)
        arguments.group(&choice)
        arguments.flag("wipe", &wipe, "With an app: sign out of all apps of its group.")
        arguments.flag("revoke", &revoke, "Revoke the refresh tokens at the provider.")
        arguments.flag("browser", &browser, "End the browser's session with the provider, too.")
        arguments.list(
            "query", &query, value: "name=value",
            "With --browser: a further parameter for the provider's page; may be repeated.")
        arguments.option(
            "timeout", &timeout, value: "seconds", "How long to wait for the browser (1 to 3600; 120 if left out).")
        arguments.option(
            "correlation-id", &correlationID, value: "id", "Names the request in the logs of broker and provider.")
    }

    func validate() throws(UsageError) {
        if let timeout, !(1...3600).contains(timeout) {
            throw UsageError("--timeout takes 1 to 3600 seconds.")
        }
        try query.requireEachOnce()
        guard query.isEmpty || browser else { throw UsageError("--query goes with --browser.") }
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        let page = SignOutPage(output: output)
        let node: JSONNode
        let name: String
        if let account {
            // The broker resolves the account, because the result of an earlier lookup could be outdated by then.
            node = try await account.resolve { reference async throws(BrokerClientError) in
                try await signOut(params(for: reference), at: location, showing: page)
            }
            name = account.username(among: choice.reference, on: DirectConnection(location: location))
        } else {
            let only = try onlyAccount(on: DirectConnection(location: location))
            name = only.username
            node = try await signOut(params(for: .id(only.id)), at: location, showing: page)
        }
        let stages = try SignOutAccount.Result.decoded(node).stages
        output.result(node) {
            SignOutText.facts(stages, of: name, leavesBrowser: page.isLeft).text(in: output.layout)
        }
        guard stages.local == .done else {
            throw BrokerClientError(.internal, "Some data of \(name) could not be removed here.")
        }
        guard !SignOutText.hasFailure(stages, leavesBrowser: page.isLeft) else {
            throw BrokerClientError(.reported, "Not everything requested was done.")
        }
    }

    private func params(for account: AccountReference) -> SignOutAccount.Params {
        var params = SignOutAccount.Params(account)
        params.selection = AppSelection(choice.reference)
        params.wipe = wipe
        params.revoke = revoke
        params.fromBrowser = browser
        params.extraQueryParameters = query.byName
        params.correlationId = correlationID
        if let timeout { params.timeout = timeout }
        return params
    }

    private func onlyAccount(on connection: DirectConnection) throws(BrokerClientError) -> Account {
        let accounts = try connection.call(ListAccounts.self, .init(choice.reference)).accounts
        guard let only = accounts.first else {
            throw BrokerClientError(.accountNotFound, "Nobody is signed in.")
        }
        guard accounts.count == 1 else {
            let people = PeopleNames(accounts)
            let names = accounts.map { (people[$0.id] ?? $0.id).clean }.joined(separator: ", ")
            throw BrokerClientError(.ambiguousAccount, "Several people are signed in; name one: \(names).")
        }
        return only
    }

    /// Ctrl-C during the wait for the browser stops only the wait, and the result is still printed. Earlier, it ends the
    /// command.
    private func signOut(
        _ params: SignOutAccount.Params, at location: SocketLocation, showing page: SignOutPage
    ) async throws(BrokerClientError) -> JSONNode {
        let signOut = Task { () async -> Result<JSONNode, BrokerClientError> in
            do throws(BrokerClientError) {
                return .success(try await InteractiveSession.run(params, at: location, browser: page))
            } catch {
                return .failure(error)
            }
        }
        Interrupt.onInterrupt {
            guard let interaction = page.leave() else { return signOut.cancel() }
            Task {
                do throws(BrokerClientError) {
                    let connection = BrokerConnection(location: location)
                    _ = try await connection.call(CancelInteraction.self, .init(interactionId: interaction))
                } catch {
                    signOut.cancel()
                }
            }
        }
        do throws(BrokerClientError) {
            return try await signOut.value.get()
        } catch {
            guard error.code == .canceled else { throw error }
            throw BrokerClientError(
                .userCanceled, "Accounts already signed out stay so; see brokerctl accounts list.", cause: error)
        }
    }
}

/// The provider's page, in the user's browser or as a URL to open by hand.
private final class SignOutPage: BrowserOpening {
    private let output: Output
    private let state = Mutex<(interaction: String?, isLeft: Bool)>((nil, false))

    init(output: Output) { self.output = output }

    /// Whether the user stopped waiting for the browser.
    var isLeft: Bool { state.withLock(\.isLeft) }

    /// - Returns: the interaction to cancel; `nil` if no page has been requested yet.
    func leave() -> String? {
        state.withLock { state in
            state.isLeft = state.interaction != nil
            return state.interaction
        }
    }

    func open(_ page: SignInPage) async throws {
        state.withLock { $0.interaction = page.interactionId }
        do {
            try await SystemBrowser().open(page)
            output.aside("Your browser shows the provider's page; waiting until it is done (Ctrl-C stops waiting).")
            // As with a sign-in, a program that opened nothing may still have exited with 0.
            output.aside("If it does not, open this address:")
            output.aside(page.url.cleanWhole)
        } catch {
            output.aside("You are signed out here. Open this page to sign out in your browser (Ctrl-C stops waiting):")
            if output.json { output.aside(page.url.cleanWhole) } else { output.line(page.url.cleanWhole) }
        }
    }
}

package enum SignOutText {
    /// Whether a requested part failed; a script needs all of them.
    static func hasFailure(_ stages: SignOutStages, leavesBrowser: Bool) -> Bool {
        let parts = [stages.local, stages.wipe, stages.revocation] + (leavesBrowser ? [] : [stages.browser])
        return parts.contains { if case .failed = $0 { true } else { false } }
    }

    /// - Parameter leavesBrowser: whether the user stopped waiting for the browser, which may still be signed in.
    package static func facts(_ stages: SignOutStages, of name: String, leavesBrowser: Bool = false) -> Facts {
        var facts = Facts()
        facts.add("Account", name)
        let parts = [
            ("This app", stages.local), ("All apps", stages.wipe), ("Provider", stages.revocation),
            ("Browser", stages.browser),
        ]
        for (name, outcome) in parts {
            switch outcome {
            case .skipped: continue
            case _ where leavesBrowser && name == "Browser": facts.add(name, "left as it is")
            case .done: facts.add(name, "signed out")
            case .failed(let why): facts.add(name, "failed: \(why)")
            }
        }
        return facts
    }
}
