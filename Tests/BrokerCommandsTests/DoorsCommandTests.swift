import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl doors")
struct DoorsCommandTests {
    private static let status = """
        {"version":"1","protocol":1,"uptime":1,"mode":"user","locked":false,"vault":{"path":"/v","keySource":"key-file",\
        "records":0,"quarantined":0,"missing":0,"rolledBack":false},"connections":1,"refreshesInFlight":0,\
        "device":{"mode":"private"},"doors":[{"name":"oidc-agent","path":"/run/oidc-agent.sock"}]}
        """
    private static let audit = """
        {"intact":true,"entries":[\
        {"sequence":1,"time":1700000000,"count":1,"method":"m","outcome":"cached","door":"oidc-agent","caller":{"tier":"unknown","id":"/usr/bin/old"}},\
        {"sequence":2,"time":1700000100,"count":1,"method":"m","outcome":"cached","door":"oidc-agent","caller":{"tier":"unknown","id":"/usr/bin/oidc-token"}},\
        {"sequence":3,"time":1700000200,"count":1,"method":"m","outcome":"cached","door":"oidc-agent","caller":{"tier":"unknown","id":"/usr/bin/oidc-token"}},\
        {"sequence":4,"time":1700000300,"count":1,"method":"broker.start","outcome":"done"}]}
        """

    @Test("lists each door with its socket and its last callers, newest first")
    func list() async throws {
        let broker = try broker(["broker.status": Self.status, "audit.list": Self.audit])
        let text = try await brokerctl(["doors"], at: broker.path)
        #expect(text.succeeded && text.lines.count == 3, "\(text)")
        #expect(text.lines.dropFirst().first?.hasPrefix("socket ") == true && text.lines[1].hasSuffix("  -"))
        #expect(text.lines.last?.contains("/run/oidc-agent.sock") == true)
        #expect(text.lines.last?.hasSuffix("/usr/bin/oidc-token, /usr/bin/old") == true)
        let json = try await brokerctl(["doors", "--json"], at: broker.path).json
        let doors = try #require(json["doors"] as? [[String: Any]])
        #expect(doors.map { $0["name"] as? String } == ["socket", "oidc-agent"])
        #expect(doors.last?["lastUsedOn"] as? Int == 1_700_000_200)
    }
}
