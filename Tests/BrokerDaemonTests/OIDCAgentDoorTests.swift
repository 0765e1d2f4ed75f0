import BrokerConfig
import BrokerDaemon
import Testing

@Suite("Where the socket for oidc-agent's programs is")
struct OIDCAgentDoorTests {
    @Test("beside the broker's own for one user, and elsewhere or nowhere as the setting says")
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
