import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct WatchCommand: WaitingSubcommand {
    static var about: About {
        About(
            "watch", "Show the broker's events as they happen.",
            """
            One line per event: sign-ins, sign-outs, new tokens, grants. No token is shown. With --json, the broker's \
            own notifications, one per line. Ctrl-C ends it; for earlier events, see brokerctl logs.

            Examples:
              brokerctl watch
              brokerctl watch --app notes --topic account --topic interaction
            """)
    }

    var global = GlobalOptions()
    var app: String?
    var topics: [EventTopic] = []

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.option(
            "app", &app, value: "name", "Only events of this app's group.", completing: LiveCompletion.apps)
        arguments.list(
            "topic", &topics,
            "Only this topic; may be repeated: \(EventTopic.allCases.map(\.rawValue).joined(separator: ", ")).")
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        let chosen = topics.isEmpty ? EventTopic.allCases : topics
        let events = try await location.events(Subscribe.Params(chosen, of: app.map { .registered($0) }))
        let names = UsernameLookup(app: app, location: location)
        if !output.json { output.aside("Watching the broker at \(location.path). Ctrl-C ends it.") }
        do {
            for try await event in events {
                if output.json {
                    output.line(EventText.json(event))
                } else {
                    let now = Output.now
                    output.event(EventText.line(event, now: now, name: names.name), at: now)
                }
                // Where SIGPIPE is ignored, as in services, nothing else reports that the reader is gone.
                guard StandardStream.lostOutput.load(ordering: .relaxed) == 0 else { return }
            }
        } catch {
            throw BrokerClientError(
                .brokerNotAvailable, "The broker went away; to see further events, run brokerctl watch again.",
                cause: error)
        }
    }
}

extension EventTopic: ArgumentValue {
    package static let meanings = [
        "account": "sign-ins and sign-outs", "token": "new tokens, and sign-ins that a provider ended",
        "interaction": "sign-in and sign-out pages", "grant": "programs that ask, and the answers",
    ]
}

/// Usernames of accounts, looked up at their first use.
final class UsernameLookup {
    private let app: AppReference?
    private let location: SocketLocation
    private var known = PeopleNames()
    private var accounts: [Account] = []

    init(app: String?, location: SocketLocation) {
        self.app = app.map { .registered($0) }
        self.location = location
    }

    /// - Returns: the id itself if the name is unknown.
    func name(_ id: String) -> String {
        if let name = known[id] { return name }
        look()
        return known[id] ?? id
    }

    /// The domain of an account's provider; `nil` if unknown.
    func provider(_ id: String) -> String? {
        _ = name(id)
        return accounts.first { $0.id == id }.flatMap { WebURL($0.authority)?.domain }
    }

    /// The usernames signed in at an authority, looked up without an app, whose list may itself need a grant.
    func people(_ authority: String) -> [String] {
        look()
        guard let server = WebURL(authority)?.server else { return [] }
        return accounts.filter { $0.signedIn && $0.environment == server }.map { known[$0.id] ?? $0.username }
    }

    private func look() {
        let listed = try? DirectConnection(location: location, answerTimeout: .seconds(5)).call(
            ListAccounts.self, .init(app, includingSignedOut: true))
        accounts = listed?.accounts ?? []
        known = PeopleNames(accounts)
    }
}
