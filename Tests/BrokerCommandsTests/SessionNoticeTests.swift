import BrokerCommands
import BrokerLink
import BrokerRPC
import BrokerValues
import Testing

@Suite("Questions to the user at the desktop")
struct SessionNoticeTests {
    private func notice(
        _ id: String, of caller: String, _ tier: CallerTier = .sandboxed, account: String? = "acc-1",
        scopes: [String]? = nil, people: [String] = []
    ) -> SessionNotice {
        let request = GrantRequest(
            id: "k7f3q2m9ab", caller: CallerIdentity(tier: tier, id: caller), app: id,
            authority: "https://login.example.org", accountID: account, scopes: scopes, requestedOn: 1000)
        let names = NoticeNames(account: { $0 == "acc-1" ? "ada@example.org" : $0 }, people: { _ in people })
        return SessionNotice(request, names)
    }

    @Test("a request shows caller, tier, scopes and account, with Deny first")
    func words() {
        let notice = notice("mail", of: "org.example.Game", scopes: ["mail.read"])
        #expect(notice.title == "A program asks for mail")
        #expect(
            notice.text
                == "org.example.Game, a sandboxed app, asks to use mail at example.org (https://login.example.org) as ada@example.org, for mail.read."
        )
    }

    @Test("a request offers the same lifetimes as the page, and an unnamed sandbox only 12 hours")
    func times() {
        let choices = notice("mail", of: "org.example.Game").choices
        #expect(choices.map(\.label) == ["Deny", "Allow for 12 hours", "Allow for 30 days", "Allow always"])
        let lifetimes: [Int64?] = [12 * 3600, 30 * 86_400, nil]
        #expect(
            choices.map(\.answer) == [.deny(request: "k7f3q2m9ab")]
                + lifetimes.map { .allow(request: "k7f3q2m9ab", lifetime: $0) })
        let unnamed = notice("mail", of: "container:session-3.scope")
        #expect(unnamed.choices.map(\.label) == ["Deny", "Allow for 12 hours"])
        #expect(unnamed.text.hasPrefix("A program in a sandbox without a name (container:session-3.scope) asks"))
    }

    @Test("the text never uses the broker's own words for tiers")
    func tiers() {
        let tiers: [CallerTier] = [.confined, .systemInstalled, .unknown, .unidentified]
        let words = tiers.map { notice("mail", of: "/usr/bin/game", $0).text.split(separator: " asks")[0] }
        #expect(
            words == [
                "/usr/bin/game, a program that the system confines,", "/usr/bin/game, a program of the system,",
                "/usr/bin/game, a program of yours,", "A program that nobody can identify (/usr/bin/game)",
            ])
    }

    @Test("a request for every account names them")
    func everybody() {
        func text(_ people: [String]) -> String {
            notice("mail", of: "org.example.Game", account: nil, people: people).text
        }
        #expect(
            text(["ada@example.org", "bob@example.org"]).hasSuffix(
                " with every account it has (signed in there: ada@example.org, bob@example.org), "
                    + "for everything that it may request."))
        #expect(text(["a", "b", "c", "d"]).contains(" with every account it has (4 are signed in there), "))
        #expect(text([]).contains(" with every account it has, "))
    }

    @Test("an ended sign-in is shown with its provider")
    func ended() {
        let event = TokenEvent.Params(
            .refreshTokenRejected, app: "mail", accountId: "acc-1", scopes: ["openid", "read"], expiresOn: nil)
        let names = NoticeNames(account: { _ in "ada@example.org" }, provider: { _ in "example.org" })
        let notice = SessionNotice(ended: event, names)
        #expect(notice.title == "ada@example.org has to sign in again")
        #expect(notice.text == "example.org ended the sign-in that mail uses.")
        #expect(notice.choices.map(\.answer) == [.signIn(app: "mail", accountID: "acc-1", scopes: ["read"])])
    }

    @Test(
        "the browser's command is parsed from the report",
        arguments: [
            (#"["firefox", "%u"]"#, ["firefox", "%u"]), (#"["a b", "c\"d\\e", ""]"#, ["a b", #"c"d\e"#, ""]),
            (#"["x, y"]"#, ["x, y"]), ("(not set)", nil), ("[]", nil), (#"["a\u{202e}"]"#, nil), (#"["a"#, nil),
        ])
    func command(text: String, words: [String]?) {
        #expect(SessionBrowser.words(of: text) == words)
    }

    @Test("a name cannot add control characters or reverse the text")
    func names() {
        let notice = notice("mail\u{202e}", of: "game\u{1b}[31m\nAllow me")
        for text in [notice.title, notice.text] {
            #expect(!text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e }, "\(text)")
        }
    }

    @Test("an unregistered client is shown after its authority, domain first")
    func client() {
        let request = GrantRequest(
            id: "k7f3q2m9ab", caller: CallerIdentity(tier: .sandboxed, id: "org.example.Game"),
            app: "adhoc:notes https://login.example.org", clientID: "notes https://good.example",
            authority: "https://login.example.org/tenant", scopes: ["read"], requestedOn: 1000)
        let notice = SessionNotice(request, NoticeNames(account: { $0 }))
        #expect(notice.title == "A program asks for tokens")
        #expect(
            notice.text
                == "org.example.Game, a sandboxed app, asks for tokens at example.org (https://login.example.org/tenant) under a client id of its choice, notes https://good.example, with every account, for read."
        )
    }

    @Test("a page opened by another machine is shown with its name until the sign-in ends")
    func elsewhere() throws {
        func change(_ json: String) throws -> SessionChange? {
            SessionChange.of(
                Link.Notification(method: "event.interaction", params: try JSONReader.read(json.utf8)),
                NoticeNames(account: { $0 }))
        }
        let opened = #"{"change":"opened","app":"mail","interactionId":"i1","caller":"ssh:devbox"}"#
        guard case .show(let notice) = try change(opened) else {
            Issue.record("nothing is shown")
            return
        }
        #expect(notice.title == "ssh:devbox asks you to sign in" && notice.choices.isEmpty)
        #expect(notice.text.contains("for mail"))
        for end in ["succeeded", "failed"] {
            let over = #"{"change":"\#(end)","app":"mail","interactionId":"i1"}"#
            #expect(try change(over) == .withdraw(.page("i1")))
        }
        let here = #"{"change":"opened","app":"mail","interactionId":"i1"}"#
        #expect(try change(here) == nil, "the person began it here")
    }

    @Test("a request too long for a notice has no button that allows it")
    func tooLong() {
        for notice in [
            notice("mail", of: "org.example.Game", scopes: (0..<40).map { "https://api.example.org/scope-\($0)" }),
            notice("mail", of: String(repeating: "x", count: 400)),
            notice(String(repeating: "m", count: 400), of: "org.example.Game"),
        ] {
            #expect(notice.choices.map(\.label) == ["Deny"] && notice.text.contains("brokerctl grants list"))
        }
    }
}
