import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// The names of people and providers for notices.
package struct NoticeNames {
    /// The username of an account's id.
    package var account: (String) -> String
    /// The provider of an account's id.
    package var provider: (String) -> String?
    /// The usernames signed in at an authority.
    package var people: (String) -> [String]

    package init(
        account: @escaping (String) -> String, provider: @escaping (String) -> String? = { _ in nil },
        people: @escaping (String) -> [String] = { _ in [] }
    ) {
        self.account = account
        self.provider = provider
        self.people = people
    }
}

/// The effect of an event on the screen. Pure.
package enum SessionChange: Sendable, Equatable {
    case show(SessionNotice)
    case withdraw(SessionNotice.Topic)

    package static func of(_ event: Link.Notification, _ names: NoticeNames) -> SessionChange? {
        switch event.method {
        case GrantNotification.name:
            (try? GrantNotification.Params(reading: event.params)).flatMap { grant($0, names) }
        case TokenEvent.name: (try? TokenEvent.Params(reading: event.params)).flatMap { token($0, names) }
        case AccountEvent.name: (try? AccountEvent.Params(reading: event.params)).flatMap(account)
        case InteractionEvent.name: (try? InteractionEvent.Params(reading: event.params)).flatMap(interaction)
        default: nil
        }
    }

    private static func grant(_ event: GrantNotification.Params, _ names: NoticeNames) -> SessionChange? {
        guard let request = event.request else { return nil }
        return event.change == .requested
            ? .show(SessionNotice(request, names)) : .withdraw(.grant(request.id))
    }

    private static func token(_ event: TokenEvent.Params, _ names: NoticeNames) -> SessionChange? {
        switch event.change {
        case .refreshTokenRejected: .show(SessionNotice(ended: event, names))
        case .acquired: .withdraw(.signIn(event.accountId))
        case nil: nil
        }
    }

    /// The notice names the caller, because the provider's page does not.
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
}
