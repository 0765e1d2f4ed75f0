import BrokerHost
import Testing

@Suite("Paths of files")
struct HostPathsTests {
    @Test("paths follow the XDG variables if they are set")
    func variables() {
        let paths = HostPaths(environment: [
            "HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/7/", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c",
        ])
        #expect(paths.socket == "/run/user/7/brokerd/broker.sock")
        #expect(paths.statePlace == .own("/s/brokerd", earlier: "/c/brokerd"))
        #expect(paths.anchors == "/run/user/7/brokerd/anchors")
        #expect(paths.configurationFiles == ["/c/brokerd/config.toml", "/etc/brokerd/config.toml"])
    }

    @Test("paths follow the home directory and the uid if variables are unset or relative")
    func defaults() {
        let environment = ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "c"]
        let paths = HostPaths(environment: environment, uid: 1234)
        #expect(paths.socket == "/run/user/1234/brokerd/broker.sock")
        #expect(paths.statePlace == .own("/home/ada/.local/state/brokerd", earlier: "/home/ada/.config/brokerd"))
        #expect(paths.configurationFiles == ["/home/ada/.config/brokerd/config.toml", "/etc/brokerd/config.toml"])
    }

    @Test("the state is in the folder that systemd made for the unit")
    func stateDirectoryOfUnit() {
        let environment = ["HOME": "/home/ada", "STATE_DIRECTORY": "/home/ada/.local/state/second:/other"]
        #expect(HostPaths(environment: environment).statePlace == .prepared("/home/ada/.local/state/second"))
        let system = HostPaths(environment: ["STATE_DIRECTORY": "/srv/brokerd"], isSystemMode: true)
        #expect(system.statePlace == .prepared("/srv/brokerd"))
    }

    @Test(
        "the state is in the state home even with the unit of an earlier release",
        arguments: [".config", ".local/state"])
    func unitOfEarlierRelease(folder: String) {
        let environment = ["HOME": "/home/ada", "STATE_DIRECTORY": "/home/ada/\(folder)/brokerd"]
        let place = StatePlace.own("/home/ada/.local/state/brokerd", earlier: "/home/ada/.config/brokerd")
        #expect(HostPaths(environment: environment).statePlace == place)
    }

    @Test("a broker for many users reads no file of one of them")
    func systemMode() {
        let paths = HostPaths(environment: ["HOME": "/root", "XDG_RUNTIME_DIR": "/run/user/0"], isSystemMode: true)
        #expect(paths.socket == "/run/brokerd/broker.sock")
        #expect(paths.statePlace == .prepared("/var/lib/brokerd"))
        #expect(paths.configurationFiles == ["/etc/brokerd/config.toml"])
        #expect(paths.anchors == "/run/brokerd-private/anchors")
        #expect(paths.sandboxes == nil)
        let prepared = ["RUNTIME_DIRECTORY": "/run/brokerd-private:/run/brokerd-sandboxes"]
        #expect(HostPaths(environment: prepared, isSystemMode: true).sandboxes == "/run/brokerd-sandboxes")
    }

    @Test("without a home there is no default state directory")
    func homeless() {
        #expect(HostPaths(environment: [:]).statePlace == nil)
    }
}
