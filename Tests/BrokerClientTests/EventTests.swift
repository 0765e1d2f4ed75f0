import BrokerClient
import BrokerTestSupport
import Foundation
import Testing

@Suite("Events")
struct EventTests {
    @Test("events arrive in order, unknown ones are ignored, and the broker's end is an error")
    func stream() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, #"{"subscribed":["account","token"]}"#)
            let account = ScriptedAnswers.account()
            peer.notify("event.account", #"{"change":"signedIn","app":"mail","account":\#(account)}"#)
            peer.notify("event.weather", "{}")
            peer.notify(
                "event.token", #"{"change":"refreshTokenRejected","app":"mail","accountId":"acc-1","scopes":[]}"#)
        }
        var seen: [String] = []
        do {
            for try await event in try await application(broker).events() {
                switch event {
                case .accountSignedIn(let account): seen.append("in \(account.identifier)")
                case .signInWithdrawn(let identifier): seen.append("withdrawn \(identifier)")
                default: seen.append("\(event)")
                }
            }
        } catch {
            seen.append("\((error as? BrokerClientError)?.code.rawValue ?? "\(error)")")
        }
        #expect(seen == ["in acc-1", "withdrawn acc-1", "connectionLost"])
    }

    @Test("a refusal of the subscription is thrown before any event")
    func refused() async throws {
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.fail(request, "appNotFound")
        }
        let application = try application(broker)
        let failure = await failure { () async throws(BrokerClientError) in try await application.events() }
        #expect(failure?.code == .appNotFound)
    }
}
