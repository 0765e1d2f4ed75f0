import BrokerClient
import Testing

@Suite("Where the client looks for the broker")
struct SocketLocationTests {
    @Test("the parameter goes before every variable")
    func parameterFirst() {
        let location = SocketLocation.resolve(path: "/a", environment: { "/from-\($0)" }, uid: 7)
        #expect(location.path == "/a")
    }

    @Test("BROKER_SOCKET goes before the runtime directory")
    func variableSecond() {
        #expect(SocketLocation.resolve(environment: { "/from-\($0)" }, uid: 7).path == "/from-BROKER_SOCKET")
    }

    @Test("then the runtime directory of the session")
    func runtimeDirectoryThird() {
        let location = SocketLocation.resolve(environment: { $0 == "XDG_RUNTIME_DIR" ? "/run/x" : "" }, uid: 7)
        #expect(location.path == "/run/x/brokerd/broker.sock")
    }

    @Test("a relative runtime directory is ignored, as brokerd ignores it")
    func relative() {
        let location = SocketLocation.resolve(environment: { $0 == "XDG_RUNTIME_DIR" ? "run/x" : "" }, uid: 7)
        #expect(location.path == "/run/user/7/brokerd/broker.sock")
    }

    @Test("without any variable it is the runtime directory that systemd gives the uid")
    func withoutVariables() {
        let location = SocketLocation.resolve(path: "", environment: { _ in nil }, uid: 1234)
        #expect(location.path == "/run/user/1234/brokerd/broker.sock")
    }

    @Test("who has no socket of their own has the one that serves everybody")
    func everybodys() {
        let everybodys = "/run/brokerd/broker.sock"
        let own = "/run/user/7/brokerd/broker.sock"
        for (there, path) in [([], own), ([everybodys], everybodys), ([own, everybodys], own)] {
            let location = SocketLocation.resolve(environment: { _ in nil }, uid: 7) { there.contains($0) }
            #expect(location.path == path)
        }
    }

    @Test("where the machine's broker is enabled and down, it is the one that is missed, and the hint is for its units")
    func enabled() {
        let enabled = "/etc/systemd/system/sockets.target.wants/brokerd-system.socket"
        let location = SocketLocation.resolve(environment: { _ in nil }, uid: 7) { $0 == enabled }
        #expect(location.path == "/run/brokerd/broker.sock" && location.units == .machine)
        for error in [BrokerClientError(ConnectFailure.notRunning, location), .noAnswer(at: location)] {
            #expect(error.message.contains("brokerd-system") && !error.message.contains("--user"), "\(error)")
        }
        let both = ["/run/user/7/brokerd/broker.sock", enabled]
        let own = SocketLocation.resolve(environment: { _ in nil }, uid: 7, isThere: both.contains)
        #expect(own.units == .own && BrokerClientError.noAnswer(at: own).message.contains("--user-unit"))
    }

    @Test("units are spoken to by who may")
    func units() {
        #expect(BrokerUnits.own.advice("reload x", uid: 7) == "systemctl --user reload x")
        #expect(BrokerUnits.machine.advice("reload x", uid: 7) == "as root: systemctl reload x")
        #expect(BrokerUnits.machine.advice("reload x", uid: 0) == "systemctl reload x")
    }
}
