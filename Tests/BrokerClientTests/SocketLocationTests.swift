import BrokerClient
import Testing

@Suite("The client's choice of the broker's socket")
struct SocketLocationTests {
    @Test("the parameter takes precedence over every variable")
    func parameterFirst() {
        let location = SocketLocation.resolve(path: "/a", environment: { "/from-\($0)" }, uid: 7)
        #expect(location.path == "/a")
    }

    @Test("BROKER_SOCKET takes precedence over the runtime directory")
    func variableSecond() {
        #expect(SocketLocation.resolve(environment: { "/from-\($0)" }, uid: 7).path == "/from-BROKER_SOCKET")
    }

    @Test("the runtime directory of the session comes next")
    func runtimeDirectoryThird() {
        let location = SocketLocation.resolve(environment: { $0 == "XDG_RUNTIME_DIR" ? "/run/x" : "" }, uid: 7)
        #expect(location.path == "/run/x/brokerd/broker.sock")
    }

    @Test("a relative runtime directory is ignored, as in brokerd")
    func relative() {
        let location = SocketLocation.resolve(environment: { $0 == "XDG_RUNTIME_DIR" ? "run/x" : "" }, uid: 7)
        #expect(location.path == "/run/user/7/brokerd/broker.sock")
    }

    @Test("without any variable the uid's runtime directory of systemd is used")
    func withoutVariables() {
        let location = SocketLocation.resolve(path: "", environment: { _ in nil }, uid: 1234)
        #expect(location.path == "/run/user/1234/brokerd/broker.sock")
    }

    @Test("a person without a socket of their own uses the one that serves all users")
    func everybodys() {
        let everybodys = "/run/brokerd/broker.sock"
        let own = "/run/user/7/brokerd/broker.sock"
        for (there, path) in [([], own), ([everybodys], everybodys), ([own, everybodys], own)] {
            let location = SocketLocation.resolve(environment: { _ in nil }, uid: 7) { there.contains($0) }
            #expect(location.path == path)
        }
    }

    @Test("if the machine's broker is enabled and down, it is reported with a hint about its units")
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

    @Test("hints about units name the required user")
    func units() {
        #expect(BrokerUnits.own.advice("reload x", uid: 7) == "systemctl --user reload x")
        #expect(BrokerUnits.machine.advice("reload x", uid: 7) == "as root: systemctl reload x")
        #expect(BrokerUnits.machine.advice("reload x", uid: 0) == "systemctl reload x")
    }
}
