import BrokerValues

/// The error for a client. The client prints it, and then `info`, which ends with the command to run.
package struct AgentFailure: Error, Sendable, Equatable {
    package let error: String
    package let info: String

    /// Clients that read this text ask another agent over the network, so it is used only if there is no such app.
    package static let noSuchAccount = "No account configured with that short name"

    package init(_ error: String, toDo goal: String, run command: String) {
        self.error = error
        info = "\(goal), run: \(command)"
    }

    /// - Parameters:
    ///   - app: the requested app, if it is known.
    ///   - request: the requirements of a sign-in.
    package init(_ failure: BrokerError, app: String?, for request: AgentRequest? = nil) {
        var (goal, command) = Self.advice(failure, app: app.flatMap(Self.word))
        if case .token(let asked) = request, command.hasPrefix("brokerctl login") { command += Self.options(asked) }
        self.init(failure.message, toDo: goal, run: command)
    }

    private static func options(_ request: AgentTokenRequest) -> String {
        let scopes = request.scopes.map { ("--scope", $0) }
        let all = scopes + [request.resource].compactMap(\.self).map { ("--resource", $0) }
        return all.reduce("") { text, option in
            word(option.1).map { "\(text) \(option.0) \($0)" } ?? text
        }
    }

    /// The error if there is no app of that name, and no alias.
    package static func unknown(account name: String) -> AgentFailure {
        let word = word(name).map { " \($0) …" } ?? ""
        return AgentFailure(Self.noSuchAccount, toDo: "To register an app for it", run: "brokerctl apps add" + word)
    }

    /// The error if the issuer does not name exactly one app.
    ///
    /// - Parameter apps: the issuer's apps that the caller may use: none, or several.
    package static func issuer(_ issuer: String, fits apps: [String]) -> AgentFailure {
        let shown = SafeText(issuer, atMost: 300).text
        guard !apps.isEmpty else {
            return AgentFailure(
                "No app that this program may use is registered for the issuer \(shown)",
                toDo: "To see which apps there are", run: "brokerctl apps list")
        }
        let names = apps.map { SafeText($0, atMost: 100).text }.joined(separator: ", ")
        return AgentFailure(
            "Several apps are registered for the issuer \(shown): \(names)", toDo: "To get a token of one of them",
            run: "oidc-token \(word(apps[0]) ?? "NAME")")
    }

    /// The name as an argument of a command; `nil` if a person could not type it.
    private static func word(_ name: String) -> String? {
        let shown = SafeText(name, atMost: 200)
        return shown.text.isExactly(name) ? HandOver.shownShellWord(name) : nil
    }

    private static func advice(_ failure: BrokerError, app: String?) -> (goal: String, command: String) {
        let named = app.map { " --app \($0)" } ?? ""
        switch failure.reason {
        case .wrongPassphrase: return ("To try again", "brokerctl unlock")
        case .tooManyConnections: return ("To see who is connected", "brokerctl status")
        default: break
        }
        switch failure.kind {
        case .interactionRequired, .serverDeclinedScopes, .mismatchedUser, .userCanceled:
            return ("To sign in", "brokerctl login" + named)
        case .grantRequired:
            return (
                "To allow it", "brokerctl grants " + (failure.details.grantRequest.map { "approve \($0)" } ?? "list")
            )
        case .locked: return ("To unlock it", "brokerctl unlock")
        case .accessDenied: return ("To see who may use what", "brokerctl grants list")
        case .ambiguousAccount, .accountNotFound: return ("To see who is signed in", "brokerctl accounts list" + named)
        case .invalidScope, .unauthorizedClient, .invalidClient, .invalidAuthority, .invalidParameter, .unsupported:
            return ("To see what is registered", "brokerctl apps " + (app.map { "show \($0)" } ?? "list"))
        case .appNotFound: return ("To see which apps there are", "brokerctl apps list")
        case .timedOut, .offline, .serverUnavailable, .throttled, .invalidResponse, .internal:
            return ("To find out more", "brokerctl doctor")
        }
    }
}
