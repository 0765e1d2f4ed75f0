import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Room for requests to a person")
struct GrantRoomTests {
    private static let partition = AccessBed.partition

    private typealias Scene = GrantScene

    @Test("a request grows eight times at most, as the person is notified each time")
    func extended() async throws {
        let scene = try await Scene()
        let news = Recorder<GrantEvent>()
        let subscription = scene.bed.grants.subscribe(in: Self.partition) { news.add($0) }
        let refusals = (0..<50).map { scene.refusal(AppReach.token(scopes: ["scope-\($0)"], account: nil))?.kind }
        #expect(refusals == Array(repeating: .grantRequired, count: 9) + Array(repeating: .throttled, count: 41))
        #expect(news.all.count { $0.change == .requested } == 9)
        withExtendedLifetime(subscription) {}
    }

    @Test("sandboxes without a confirmed name have sixteen requests together, and displace no other")
    func unnamedRequests() async throws {
        let scene = try await Scene()
        for number in 0..<4 {
            try await scene.bed.directory.register(AccessBed.app("app-\(number)"), in: Self.partition)
        }
        func ask(_ place: Int, _ app: Int) throws -> ErrorKind? {
            let caller = try scene.bed.caller {
                $0.rootMount = .other
                $0.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/run-\(place).scope")
            }
            return scene.refusal(of: caller, app: "app-\(app)")?.kind
        }
        var kinds: [ErrorKind?] = []
        for place in 0..<8 { for app in 0..<4 { kinds.append(try ask(place, app)) } }
        #expect(kinds == Array(repeating: .grantRequired, count: 16) + Array(repeating: .throttled, count: 16))
        _ = try scene.request()
        #expect(try scene.bed.grants.list(in: Self.partition).requests.count == 17)
    }

    @Test("a request for another tenant of an unregistered client is refused, and the first one stays")
    func otherBinding() async throws {
        let scene = try await Scene()
        func ask(_ tenant: String) -> BrokerError? {
            let app = AppReference.adHoc(clientID: "made-up", authority: "https://login.microsoftonline.com/\(tenant)")
            do throws(BrokerError) {
                _ = try scene.bed.policy.admit(scene.caller, as: app, reaching: .everything)
                return nil
            } catch { return error }
        }
        let first = ask("common")
        #expect(first?.kind == .grantRequired && ask("organizations")?.kind == .throttled)
        #expect(ask("common")?.details.grantRequest == first?.details.grantRequest)
    }

    @Test("a refusal of an unregistered client applies to every client id that its caller makes up")
    func madeUpNames() async throws {
        let scene = try await Scene()
        func ask(_ client: String) -> BrokerError? {
            do throws(BrokerError) {
                _ = try scene.bed.policy.admit(
                    scene.caller, as: .adHoc(clientID: client, authority: "https://id.example.org"),
                    reaching: .everything)
                return nil
            } catch { return error }
        }
        let request = try #require(ask("one")?.details.grantRequest)
        try scene.bed.grants.deny(request: request, in: Self.partition)
        for client in ["one", "two"] { #expect(ask(client)?.reason == .grantDenied, "\(client)") }
        #expect(scene.refusal()?.kind == .grantRequired)
    }
}
