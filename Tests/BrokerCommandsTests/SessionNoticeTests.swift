import BrokerCommands
import BrokerLink
import BrokerRPC
import BrokerValues
import Testing

@Suite("What a person at the desktop is asked")
struct SessionNoticeTests {
    private func notice(_ id: String, of caller: String, scopes: [String]? = nil) -> SessionNotice {
        let request = GrantRequest(
            id: "k7f3q2m9ab", caller: CallerIdentity(tier: .sandboxed, id: caller), app: id, accountID: "acc-1",
            scopes: scopes, requestedOn: 1000)
        return SessionChange.notice(request) { $0 == "acc-1" ? "ada@example.org" : $0 }
    }

    @Test("says who asks, how well that is known, for what and whose; refusing comes first")
    func words() {
        let notice = notice("mail", of: "org.example.Game", scopes: ["mail.read"])
        #expect(notice.title == "A program asks for mail")
        #expect(notice.text == "org.example.Game (sandboxed) asks for its tokens, for mail.read, of ada@example.org.")
        #expect(notice.choices.map(\.label) == ["Deny", "Allow for an hour", "Allow"])
        #expect(notice.choices.first?.answer == .deny(request: "k7f3q2m9ab"))
        #expect(notice.choices.last?.answer == .allow(request: "k7f3q2m9ab", lifetime: nil))
    }

    @Test("a name cannot bring control characters or turn the text around")
    func names() {
        let notice = notice("mail\u{202e}", of: "game\u{1b}[31m\nAllow me")
        for text in [notice.title, notice.text] {
            #expect(!text.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202e }, "\(text)")
        }
    }

    @Test("a client without a registration stands behind the authority, the end of its host first")
    func client() {
        let request = GrantRequest(
            id: "k7f3q2m9ab", caller: CallerIdentity(tier: .sandboxed, id: "org.example.Game"),
            app: "adhoc:notes https://login.example.org", clientID: "notes https://good.example",
            authority: "https://login.example.org/tenant", scopes: ["read"], requestedOn: 1000)
        let notice = SessionChange.notice(request) { $0 }
        #expect(notice.title == "A program asks for tokens")
        #expect(
            notice.text
                == "org.example.Game (sandboxed) asks for tokens at example.org (https://login.example.org/tenant) under a client id of its choice, notes https://good.example, for read, of every account."
        )
    }

    @Test("a page that another machine had opened is told with that machine's name, until the sign-in has ended")
    func elsewhere() throws {
        func change(_ json: String) throws -> SessionChange? {
            SessionChange.of(EventNotice(name: "event.interaction", params: try JSONReader.read(json.utf8))) { $0 }
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

    @Test("more than a notice shows has no button that allows it")
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
