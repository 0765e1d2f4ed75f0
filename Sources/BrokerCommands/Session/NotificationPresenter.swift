import BrokerLink
import BrokerRPC
import BrokerValues

/// Keeps what is on the screen as the broker's events say, and carries out what the person answers.
///
/// The person may go to another session and come back: as long as something is to be asked, it is looked whose turn that is.
actor NotificationPresenter {
    /// More than anybody would read; what comes then is in `brokerctl grants list` and the log.
    private static let most = 16
    private static let look = Duration.seconds(5)

    private let location: SocketLocation
    private let names: NoticeNames
    private let turn: SessionTurn
    /// Writes where the person looks when nothing is shown: the journal.
    private let say: @Sendable (String) -> Void
    /// What is to be asked, on this screen or on another of the person's.
    private var wanted: [SessionNotice.Topic: SessionNotice] = [:]
    private var open: [SessionNotice.Topic: Task<Void, Never>] = [:]
    private var looking: Task<Void, Never>?
    private var hasTurn = false
    /// What shows the notices that are open.
    private var service = NoticeService.cannotBeTold
    private var isLackSaid = false

    init(_ location: SocketLocation, _ turn: SessionTurn, say: @escaping @Sendable (String) -> Void) {
        self.location = location
        self.turn = turn
        self.say = say
        let known = UsernameLookup(app: nil, location: location)
        names = NoticeNames(account: known.name, provider: known.provider, people: known.people)
    }

    /// What was asked before somebody was here to see it.
    func showOpenRequests() throws(BrokerClientError) {
        let connection = DirectConnection(location: location, answerTimeout: .seconds(10))
        for request in try connection.call(ListGrants.self, .init()).requests {
            show(SessionNotice(request, names))
        }
    }

    func take(_ event: EventNotice) {
        switch SessionChange.of(event, names) {
        case .show(let notice): show(notice)
        case .withdraw(let topic):
            wanted[topic] = nil
            open.removeValue(forKey: topic)?.cancel()
        case nil: break
        }
    }

    /// Takes everything off the screen, and waits for that.
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

    /// A service that is started anew shows nothing of what the one before it showed.
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
        say("Questions cannot be shown here: \(lack). What waits for an answer: brokerctl grants list")
    }

    private func ask(_ notice: SessionNotice) {
        open[notice.topic] = Task {
            let answer = await DesktopNotice.ask(
                notice.title, notice.text, notice.choices.map(\.label), key: notice.topic.id)
            guard !Task.isCancelled else { return }
            open[notice.topic] = nil
            if answer == .noProgram { sayOnce("notify-send is not installed (libnotify)") }
            // The next look shows it again.
            if answer == .notShown { return }
            // Also when it was closed without an answer: not to be asked again here.
            wanted[notice.topic] = nil
            guard case .pressed(let chosen) = answer, notice.choices.indices.contains(chosen) else { return }
            await carryOut(notice.choices[chosen].answer)
        }
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
        var known = GetAccount.Params(.id(accountID))
        known.selection = AppSelection(.registered(app))
        var params = AcquireTokenInteractive.Params(.registered(app), scopes: scopes)
        params.account = try await connection.call(GetAccount.self, known).account.map { .id($0.id) }
        let browser = SessionBrowser.current(at: location, say: say)
        _ = try await InteractiveSession.run(params, on: connection, browser: browser)
    }
}
