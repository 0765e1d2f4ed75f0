import BrokerConfig
import BrokerDaemon
import Testing

@Suite("Socket for oidc-agent's programs")
struct OIDCAgentDoorTests {
    @Test("is next to the broker's own in user mode, or where the setting puts it")
    func place() {
        var (own, everybodys) = (BrokerConfiguration(), BrokerConfiguration(isSystemMode: true))
        func places() -> [String?] {
            [own, everybodys].map { OIDCAgentDoor.path($0, beside: "/run/b/broker.sock") }
        }
        #expect(places() == ["/run/b/oidc-agent.sock", nil])
        (own.doors.oidcAgentSocket, everybodys.doors.oidcAgentSocket) = ("/a.sock", "/a.sock")
        #expect(places() == ["/a.sock", "/a.sock"])
        (own.doors.oidcAgentSocket, everybodys.doors.oidcAgentSocket) = ("off", "off")
        #expect(places() == [nil, nil])
    }
}
