import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Updates the screen according to the broker's events, and carries out the user's answers.
///
/// The user may switch sessions and come back: while a question is open, the presenter polls whose turn it is.
actor NotificationPresenter {
    /// More than anyone would read; further ones are in `brokerctl grants list` and the log.
    private static let most = 16
    private static let look = Duration.seconds(5)

    private let location: SocketLocation
    private let names: NoticeNames
    private let turn: SessionTurn
    /// Writes to the journal, where the user looks if nothing is shown.
    private let say: @Sendable (String) -> Void
    /// The open questions, for this screen or another one of the user.
    private var wanted: [SessionNotice.Topic: SessionNotice] = [:]
    private var open: [SessionNotice.Topic: Task<Void, Never>] = [:]
    private var looking: Task<Void, Never>?
    private var hasTurn = false
    /// The service that shows the open notices.
    private var service = NoticeService.cannotBeTold
    private var isLackSaid = false

    init(_ location: SocketLocation, _ turn: SessionTurn, say: @escaping @Sendable (String) -> Void) {
        self.location = location
        self.turn = turn
        self.say = say
        let known = UsernameLookup(app: nil, location: location)
        names = NoticeNames(account: known.name, provider: known.provider, people: known.people)
    }

    /// Shows the requests made before this program started.
    func showOpenRequests() throws(BrokerClientError) {
        let connection = DirectConnection(location: location, answerTimeout: .seconds(10))
        for request in try connection.call(ListGrants.self, .init()).requests {
            show(SessionNotice(request, names))
        }
    }

    func take(_ event: Link.Notification) {
        switch SessionChange.of(event, names) {
        case .show(let notice): show(notice)
        case .withdraw(let topic):
            wanted[topic] = nil
            open.removeValue(forKey: topic)?.cancel()
        case nil: break
        }
    }

    /// Removes everything from the screen, and waits for that.
    func clear() async {
        wanted = [:]
        looking?.cancel()
        await takeDown()
        await looking?.value
    }

    private func takeDown() async {
        let all = Array(open.values)
        open = [:]
        for task in all { task.cancel() }
        for task in all { await task.value }
    }

    private func show(_ notice: SessionNotice) {
        guard wanted[notice.topic] == nil, wanted.count < Self.most else { return }
        wanted[notice.topic] = notice
        if hasTurn { ask(notice) }
        if looking == nil { looking = Task { await lookWhoseTurnItIs() } }
    }

    private func lookWhoseTurnItIs() async {
        while !wanted.isEmpty, !Task.isCancelled {
            hasTurn = await turn.take()
            if hasTurn {
                await lookWhatShows()
                for notice in wanted.values where open[notice.topic] == nil { ask(notice) }
            } else {
                await takeDown()
            }
            try? await Task.sleep(for: Self.look)
        }
        turn.end()
        (hasTurn, looking) = (false, nil)
    }

    /// A restarted service does not show the notices of the one before it.
    private func lookWhatShows() async {
        let found = await NoticeService.look()
        if found == .isMissing { sayOnce("no program that shows notifications runs in this session; start one") }
        if case .runs = found { isLackSaid = false }
        if found != service, service != .cannotBeTold { await takeDown() }
        service = found
    }

    private func sayOnce(_ lack: String) {
        guard !isLackSaid else { return }
        isLackSaid = true
        say("Questions cannot be shown here: \(lack). To see the open ones: brokerctl grants list")
    }

    private func ask(_ notice: SessionNotice) {
        open[notice.topic] = Task {
            let answer = await DesktopNotice.ask(
                notice.title, notice.text, notice.choices.map(\.label), key: notice.topic.id)
            if case .pressed(let choice) = answer { return take(choice, of: notice) }
            guard !Task.isCancelled else { return }
            open[notice.topic] = nil
            if answer == .noProgram { sayOnce("notify-send is not installed (libnotify)") }
            // The next poll shows it again.
            if answer == .notShown { return }
            // A notice closed without an answer is not shown here again.
            wanted[notice.topic] = nil
        }
    }

    /// A notice that is taken down to be shown elsewhere may have been answered just before. A withdrawn question has no answer.
    private func take(_ choice: Int, of notice: SessionNotice) {
        guard wanted.removeValue(forKey: notice.topic) != nil, notice.choices.indices.contains(choice) else { return }
        open[notice.topic] = nil
        // The notice's own task may be canceled, and a sign-in takes its time.
        Task { await carryOut(notice.choices[choice].answer) }
    }

    private func carryOut(_ answer: SessionNotice.Answer) async {
        do throws(BrokerClientError) {
            switch answer {
            case .deny(let request):
                _ = try await BrokerConnection(location: location).call(DenyGrant.self, .init(request: request))
            case .allow(let request, let lifetime):
                var params = ApproveGrant.Params()
                params.request = request
                params.lifetime = lifetime
                _ = try await BrokerConnection(location: location).call(ApproveGrant.self, params)
            case .signIn(let app, let accountID, let scopes): try await signIn(app, accountID, scopes)
            }
        } catch {
            DesktopNotice.show("That did not go through", error.message.clean)
        }
    }

    private func signIn(_ app: String, _ accountID: String, _ scopes: [String]) async throws(BrokerClientError) {
        let connection = BrokerConnection(location: location)
        let known = GetAccount.Params(.id(accountID), of: .registered(app))
        var params = AcquireTokenInteractive.Params(.registered(app), scopes: scopes)
        params.account = try await connection.call(GetAccount.self, known).account.map { .id($0.id) }
        let browser = SessionBrowser.current(at: location, say: say)
        _ = try await InteractiveSession.run(params, at: location, browser: browser)
    }
}
