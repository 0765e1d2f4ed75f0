import BrokerLink
import BrokerRPC
import BrokerValues

/// A question to the person at the desktop.
package struct SessionNotice: Sendable, Equatable {
    /// What it is about. There is one notice for each; what is settled elsewhere takes it away.
    package enum Topic: Sendable, Hashable {
        /// A caller asks for an app: the id of its request.
        case grant(String)
        /// The provider ended a sign-in: the account's id.
        case signIn(String)
        /// A program on another machine had a page opened here: the interaction's id.
        case page(String)
    }

    package enum Answer: Sendable, Equatable {
        case deny(request: String)
        /// - lifetime: seconds; nil for as long as the rules allow.
        case allow(request: String, lifetime: Int64?)
        case signIn(app: String, accountID: String, scopes: [String])
    }

    package struct Choice: Sendable, Equatable {
        package var label: String
        package var answer: Answer
    }

    package var topic: Topic
    package var title: String
    package var text: String
    package var choices: [Choice]
}

/// What an event means for what is on the screen. Pure.
package enum SessionChange: Sendable, Equatable {
    case show(SessionNotice)
    case withdraw(SessionNotice.Topic)

    /// - Parameter name: the username of an account's id.
    package static func of(_ event: EventNotice, name: (String) -> String) -> SessionChange? {
        switch event.name {
        case GrantNotification.name:
            (try? GrantNotification.Params(reading: event.params)).flatMap { grant($0, name) }
        case TokenEvent.name: (try? TokenEvent.Params(reading: event.params)).flatMap { token($0, name) }
        case AccountEvent.name: (try? AccountEvent.Params(reading: event.params)).flatMap(account)
        case InteractionEvent.name: (try? InteractionEvent.Params(reading: event.params)).flatMap(interaction)
        default: nil
        }
    }

    private static func grant(_ event: GrantNotification.Params, _ name: (String) -> String) -> SessionChange? {
        guard let request = event.request else { return nil }
        return event.change == .requested ? .show(notice(request, name)) : .withdraw(.grant(request.id))
    }

    /// It refuses them from clients.
    private static let addedByBroker: Set<String> = ["openid", "profile", "offline_access"]

    private static func token(_ event: TokenEvent.Params, _ name: (String) -> String) -> SessionChange? {
        switch event.change {
        case .refreshTokenRejected:
            let username = name(event.accountId)
            return .show(
                SessionNotice(
                    topic: .signIn(event.accountId),
                    title: "\(username) has to sign in again".clean(atMost: QuestionLimits.onNotice),
                    text: "The provider ended the sign-in that \(event.app) uses.".clean(
                        atMost: QuestionLimits.onNotice),
                    choices: [
                        .init(
                            label: "Sign in",
                            answer: .signIn(
                                app: event.app, accountID: event.accountId,
                                scopes: event.scopes.filter { !addedByBroker.contains($0) }))
                    ]))
        case .acquired: return .withdraw(.signIn(event.accountId))
        case nil: return nil
        }
    }

    /// The page is the provider's, and names nobody who asked.
    private static func interaction(_ event: InteractionEvent.Params) -> SessionChange? {
        let topic = SessionNotice.Topic.page(event.interactionId)
        guard event.change == .opened else { return event.change == nil ? nil : .withdraw(topic) }
        guard let caller = event.caller else { return nil }
        return .show(
            SessionNotice(
                topic: topic, title: "\(caller) asks you to sign in".clean(atMost: QuestionLimits.onNotice),
                text: "A page opened in your browser for \(event.app). Close it unless you asked for it there.".clean(
                    atMost: QuestionLimits.onNotice),
                choices: []))
    }

    private static func account(_ event: AccountEvent.Params) -> SessionChange? {
        event.change == nil ? nil : .withdraw(.signIn(event.account.id))
    }

    /// Refusing comes first, as on the page in the browser (decision 40), and nothing is done by a click beside the buttons.
    package static func notice(_ request: GrantRequest, _ name: (String) -> String) -> SessionNotice {
        let who = "\(request.caller.id) (\(CallerText.tier(request.caller.tier)))"
        let what = GrantText.part(request.scopes, of: request.accountID.map(name))
        let place = GrantText.place(request) ?? "an unknown provider"
        let client = request.clientID.map { "tokens \(place) under a client id of its choice, \($0)" }
        let title = "A program asks for \(client == nil ? request.app : "tokens")"
        let deny = SessionNotice.Choice(label: "Deny", answer: .deny(request: request.id))
        let text = "\(who) asks for \(client ?? "its tokens"), \(what)."
        guard title.count + text.count <= QuestionLimits.onNotice else {
            return SessionNotice(
                topic: .grant(request.id), title: "A program asks for more than is shown here",
                text: "To see all of it, and to allow it: brokerctl grants list", choices: [deny])
        }
        return SessionNotice(
            topic: .grant(request.id), title: title.clean, text: text.clean,
            choices: [
                deny, .init(label: "Allow for an hour", answer: .allow(request: request.id, lifetime: 3600)),
                .init(label: "Allow", answer: .allow(request: request.id, lifetime: nil)),
            ])
    }
}
