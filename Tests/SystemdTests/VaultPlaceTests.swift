import BrokerTestSupport
import Foundation
import Testing

@Suite("The location of a person's vault under systemd", .needsLab)
struct VaultPlaceTests {
    /// The unit of earlier releases lets systemd prepare the folder: up to version 253 among the settings, from 254 on in the state
    /// home, where it is a link to the settings if these existed before.
    private func useEarlierUnit(in lab: SystemdLab) async throws {
        try await lab.user(
            "sh", "-c",
            """
            mkdir -p ~/.config/systemd/user/brokerd.service.d
            printf '[Service]\\nStateDirectory=brokerd\\nStateDirectoryMode=0700\\n' \
                > ~/.config/systemd/user/brokerd.service.d/earlier.conf
            systemctl --user daemon-reload
            """)
    }

    private func keepAmongSettings(in lab: SystemdLab) async throws {
        try await lab.user("sh", "-c", "mkdir -p ~/.config && mv ~/.local/state/brokerd ~/.config/")
    }

    /// The broker's own report, and the disk's content: one vault, and one key.
    private func requireOneVault(with apps: [String], in lab: SystemdLab) async throws {
        let listed = try await lab.user("brokerctl", "apps", "list")
        for app in apps { try #require(listed.contains(app), "\(listed)") }
        let path = "/home/\(SystemdLab.user)/.local/state/brokerd/vault.db"
        #expect(try await lab.user("brokerctl", "--json", "status").contains(#""path":"\#(path)""#))
        #expect(try await lab.user("sh", "-c", "find ~ -name vault.db -type f") == "\(path)\n")
        let keys = try await lab.user("sh", "-c", "find ~ -name '*.key'")
        #expect(keys.split(separator: "\n").count == 1, "\(keys)")
    }

    @Test(
        "the vault is separate from the settings, which may exist before or be made later",
        arguments: [true, false], [true, false])
    func settings(areFirst: Bool, isEarlierUnit: Bool) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            if areFirst { try await lab.user("brokerctl", "config", "set", "log.level", "debug") }
            if isEarlierUnit { try await useEarlierUnit(in: lab) }
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("first")
            try await lab.user("brokerctl", "config", "set", "log.level", "info")
            for _ in 0..<2 {
                try await requireOneVault(with: ["first"], in: lab)
                try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            }
            #expect(try await lab.user("sh", "-c", "ls ~/.config/brokerd") == "config.toml\n")
        }
    }

    @Test(
        "a vault among the settings is moved by the first start, which the journal reports", arguments: [true, false])
    func moved(isEarlierUnit: Bool) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("first")
            try await lab.user("systemctl", "--user", "stop", "brokerd.service")
            try await keepAmongSettings(in: lab)
            try await lab.configure("log.level = \"debug\"\n")
            if isEarlierUnit { try await useEarlierUnit(in: lab) }
            try await requireOneVault(with: ["first"], in: lab)
            #expect(try await lab.journal().contains { $0["MESSAGE"] == "the vault was moved" })
            #expect(try await lab.user("brokerctl", "--json", "config", "show").contains("debug"))
        }
    }

    @Test(
        "one home works with systemd 252 and 257 in turn",
        .enabled(if: LabRoot.machineIsBookworm, "Debian 12 starts no programs that were linked on a newer release"))
    func inTurn() async throws {
        try await withTestBed { bed in
            let user = SystemdLab.user
            var apps: [String] = []
            var home: String?
            for root in [LabRoot.machine, .debian("trixie"), .machine, .debian("trixie")] {
                let lab = try await SystemdLab.boot(in: bed, on: root)
                let place = try await lab.place("/home/\(user)")
                if let home { try await bed.require("cp", ["--archive", home + "/.", place]) }
                if apps.isEmpty { try await useEarlierUnit(in: lab) }
                try await lab.user("systemctl", "--user", "daemon-reload")
                try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
                apps.append("app\(apps.count)")
                try await lab.addApp(try #require(apps.last))
                try await requireOneVault(with: apps, in: lab)
                try await lab.user("systemctl", "--user", "stop", "brokerd.service")
                // As left by the earlier release on the first one.
                if home == nil { try await keepAmongSettings(in: lab) }
                let kept = bed.path(bed.unique("home"))
                try await bed.require("cp", ["--archive", place, kept])
                home = kept
                await lab.shut()
            }
        }
    }
}
