import BrokerCommandLine
import BrokerRPC
import BrokerValues

extension SessionNotice {
    /// Deny comes first, as on the page in the browser (decision 25), and a click outside the buttons does nothing.
    package init(_ request: GrantRequest, _ names: NoticeNames) {
        let deny = Choice(label: "Deny", answer: .deny(request: request.id))
        let title = "A program asks for \(request.clientID == nil ? request.app : "tokens")"
        let text = "\(Self.who(request.caller)) asks \(Self.what(request, names))."
        guard title.count + text.count <= QuestionLimits.onNotice else {
            self.init(
                topic: .grant(request.id), title: "A program asks for more than is shown here",
                text: "To see all of it, and to allow it: brokerctl grants list", choices: [deny])
            return
        }
        let allow = GrantTerm.offered(to: request.caller).map {
            Choice(label: Self.label($0), answer: .allow(request: request.id, lifetime: $0.lifetime))
        }
        self.init(topic: .grant(request.id), title: title.clean, text: text.clean, choices: [deny] + allow)
    }

    /// The provider ended a sign-in.
    package init(ended event: TokenEvent.Params, _ names: NoticeNames) {
        let provider = names.provider(event.accountId) ?? "The provider"
        self.init(
            topic: .signIn(event.accountId),
            title: "\(names.account(event.accountId)) has to sign in again".clean(atMost: QuestionLimits.onNotice),
            text: "\(provider) ended the sign-in that \(event.app) uses.".clean(atMost: QuestionLimits.onNotice),
            choices: [
                .init(
                    label: "Sign in",
                    answer: .signIn(
                        app: event.app, accountID: event.accountId,
                        scopes: event.scopes.filter { !ReservedScopes.all.contains($0) }))
            ])
    }

    private static func label(_ term: GrantTerm) -> String {
        switch term {
        case .today: "Allow for 12 hours"
        case .month: "Allow for 30 days"
        case .always: "Allow always"
        }
    }

    private static func who(_ caller: CallerIdentity) -> String {
        switch caller.tier {
        case .sandboxed where caller.isUnnamedSandbox: "A program in a sandbox without a name (\(caller.id))"
        case .sandboxed: "\(caller.id), a sandboxed app,"
        case .confined: "\(caller.id), a program that the system confines,"
        case .systemInstalled: "\(caller.id), a program of the system,"
        case .unknown: "\(caller.id), a program of yours,"
        case .unidentified: "A program that nobody can identify (\(caller.id))"
        }
    }

    private static func what(_ request: GrantRequest, _ names: NoticeNames) -> String {
        let scopes = request.scopes.map { $0.isEmpty ? "to learn who you are" : "for \($0.joined(separator: " "))" }
        let place = GrantText.place(request)
        let whose = request.accountID.map { "as " + names.account($0) }
        if let client = request.clientID {
            return
                "for tokens \(place ?? "at a provider that it did not name") under a client id of its choice, \(client), "
                + "\(whose ?? "with every account"), \(scopes ?? "for everything")"
        }
        let use = "to use \(request.app)" + (place.map { " " + $0 } ?? "")
        return
            "\(use) \(whose ?? everybody(request.authority.map(names.people) ?? [])), "
            + (scopes ?? "for everything that it may request")
    }

    private static func everybody(_ people: [String]) -> String {
        switch people.count {
        case 0: "with every account it has"
        case 1...3: "with every account it has (signed in there: \(people.joined(separator: ", ")))"
        default: "with every account it has (\(people.count) are signed in there)"
        }
    }
}
