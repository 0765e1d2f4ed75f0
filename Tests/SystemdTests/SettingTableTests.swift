import BrokerTestSupport
import Foundation
import Testing

/// The place that shows that a setting works with the units that read it.
private enum Check {
    /// Tests under systemd: of a person's units, and of the machine's.
    case seen(person: String, machine: String)
    /// No directive of a unit can affect the setting.
    case apart(Reason)
}

private enum Reason: String {
    case numbers = "the broker counts, in its own memory"
    case clock = "the broker looks at a clock that no unit keeps from it"
    case requests = "the broker decides it about what a request says, or what a provider answers"
    case waiting = "a time after which the broker gives up what it does on a connection that it has"
}

@Suite("Each setting with each unit")
struct SettingTableTests {
    private static let (person, machine) = ("PersonUnitSettingTests.broker", "SettingUnitTests.read")

    private static let checks: [String: Check] = [
        "socket.path": .seen(person: person, machine: machine),
        "socket.max_connections": .seen(person: person, machine: machine),
        "socket.max_requests_per_connection": .apart(.numbers),
        "socket.idle_line_timeout": .apart(.clock),
        "doors.oidc_agent_socket": .seen(person: "DoorLabTests.activation", machine: "SettingUnitTests.door"),
        "vault.state_dir": .seen(person: person, machine: "SettingUnitTests.folders"),
        "vault.key_source": .seen(person: person, machine: "EverybodyTests.signedIn"),
        "vault.key_dir": .seen(person: person, machine: "SettingUnitTests.folders"),
        "vault.passphrase_command": .seen(person: person, machine: machine),
        "vault.quota": .apart(.numbers),
        "oauth.allow_http_loopback": .apart(.requests),
        "oauth.ca_file": .seen(person: person, machine: machine),
        "oauth.connect_timeout": .apart(.waiting),
        "oauth.request_timeout": .apart(.waiting),
        "lock.after_idle": .apart(.clock),
        "lock.on_suspend": .seen(person: person, machine: machine),
        // A broker with its own account has no session and no browser, and reports that.
        "lock.on_screen_lock": .seen(person: person, machine: machine),
        "access.allow_ad_hoc_clients": .apart(.requests),
        "access.allow_private_authorities": .apart(.requests),
        "access.ask_in_browser": .seen(person: person, machine: machine),
        // The broker reads a caller's facts in /proc, which a unit may hide.
        "access.sandboxed": .seen(person: "SandboxUnitTests.unit", machine: "EverybodyTests.signedIn"),
        "access.confined": .seen(person: "ServiceTests.activation", machine: "EverybodyTests.signedIn"),
        "access.system_installed": .seen(person: "ServiceTests.activation", machine: "EverybodyTests.signedIn"),
        "access.unknown": .seen(person: "SessionUnitTests.proofs", machine: "EverybodyTests.signedIn"),
        "admin.proof": .seen(person: "SessionUnitTests.proofs", machine: "EverybodyTests.proofs"),
        "interaction.max_open": .apart(.numbers),
        "interaction.max_open_each": .apart(.numbers),
        // The kernel names the browser's user by netlink, which a unit may forbid.
        "interaction.allow_redirects_of_other_users": .seen(
            person: "CompanionTests.tokenFile", machine: "EverybodyTests.signedIn"),
        "interaction.form_post": .apart(.requests),
        "cache.expiry_buffer": .apart(.clock),
        "cache.refresh_share": .apart(.clock),
        "cache.extended_lifetime": .apart(.clock),
        "browser.command": .seen(person: "PersonUnitSettingTests.session", machine: machine),
        "device.mode": .apart(.requests),
        "log.level": .seen(person: "ServiceTests.reload", machine: "AdministratorLabTests.commands"),
        "log.names": .apart(.requests),
    ]

    private static func settings() throws -> Set<String> {
        let page = try PackageTree.text("docs/configuration.md")
        let table = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("Settings\n") })
        return Set(table.matches(of: /\n\| `([a-z_.]+)`/).map { String($0.1) })
    }

    @Test("has an entry here, and the entry names an existing test")
    func complete() throws {
        #expect(try Self.settings() == Set(Self.checks.keys))
        let folder = PackageTree.root.appending(path: "Tests/SystemdTests").path
        for (name, check) in Self.checks {
            guard case .seen(let person, let machine) = check else { continue }
            for test in [person, machine] {
                let words = test.split(separator: ".")
                let text = try String(contentsOfFile: "\(folder)/\(words[0]).swift", encoding: .utf8)
                #expect(text.contains("func \(words[1])("), "\(name): \(test)")
            }
        }
    }
}
