extension Setting {
    package static let all: [Setting] = [
        Setting(
            name: "socket.path", kind: .path(\.socket.path), takesEffect: .restart, flag: "--socket",
            environment: "BROKER_SOCKET", defaultNote: "`$XDG_RUNTIME_DIR/brokerd/broker.sock`",
            summary: "The Unix socket to listen on. A socket that systemd passes in comes first."),
        Setting(
            name: "socket.max_connections", kind: .integer(\.socket.maxConnections, 1...10_000, unit: nil),
            takesEffect: .restart, defaultNote: "`256`; `2048` with `--system`",
            summary:
                "Connections served at a time. For one more, an idle one is closed; if none is idle, the new one gets an error and is closed."
        ),
        Setting(
            name: "socket.max_requests_per_connection",
            kind: .integer(\.socket.maxRequestsPerConnection, 1...1_000, unit: nil), takesEffect: .restart,
            summary: "Requests of one connection in flight at a time."),
        Setting(
            name: "socket.idle_line_timeout", kind: .integer(\.socket.idleLineTimeout, 1...3_600, unit: "s"),
            takesEffect: .restart, summary: "How long a line may stay half sent before the connection is closed."),
        Setting(
            name: "doors.oidc_agent_socket", kind: .pathOrOff(\.doors.oidcAgentSocket), takesEffect: .restart,
            flag: "--oidc-agent-socket",
            defaultNote: "`oidc-agent.sock` next to the broker's socket; `off` with `--system`",
            summary:
                "The socket for programs that ask oidc-agent (`OIDC_SOCK`). A socket that systemd passes in comes first. `off`: none."
        ),
        Setting(
            name: "vault.state_dir", kind: .path(\.vault.stateDirectory), takesEffect: .restart, flag: "--state-dir",
            environment: "BROKER_STATE_DIR",
            defaultNote:
                "`$XDG_STATE_HOME/brokerd`, else `~/.local/state/brokerd`; the folder of `StateDirectory=` if the unit has one",
            summary: "The folder of the vault and its key. Mode 0700, owned by the daemon's user."),
        Setting(
            name: "vault.key_source", kind: .keySources(\.vault.keySources), takesEffect: .restart,
            defaultNote: "`key-file` for a new vault; an existing one keeps its own",
            summary:
                "What the vault's key may come from, by name or as an array, strongest first. A new vault takes the first "
                + "that is there; an existing one is opened by the one it records, and refused if that is not named here."
        ),
        Setting(
            name: "vault.key_dir", kind: .path(\.vault.keyDirectory), takesEffect: .restart,
            defaultNote:
                "`$XDG_DATA_HOME/brokerd-key`, else `~/.local/share/brokerd-key`; the vault's folder where `state_dir` is given",
            summary: "The folder of a key file. A key next to the vault is moved here."),
        Setting(
            name: "vault.passphrase_command", kind: .command(\.vault.passphraseCommand), takesEffect: .restart,
            defaultNote: "none",
            summary:
                "A program whose first line of output is the passphrase of a vault with the key source `passphrase`; the "
                + "broker then starts open. When it fails, the broker stays locked until `brokerctl unlock`."),
        Setting(
            name: "vault.quota", kind: .integer(\.vault.quota, 0...1_048_576, unit: "MiB"), takesEffect: .reload,
            defaultNote: "`0`; `64` with `--system`",
            summary:
                "Limit for the records of one user; writes beyond it are refused. 0: no limit. The "
                + "audit log does not count."),
        Setting(
            name: "oauth.allow_http_loopback", kind: .boolean(\.oauth.allowHTTPLoopback), takesEffect: .reload,
            flag: "--allow-http-loopback",
            summary: "Lets authorities be plain http on 127.0.0.1, [::1] or localhost. For development."),
        Setting(
            name: "oauth.ca_file", kind: .path(\.oauth.caFile), takesEffect: .restart, flag: "--ca-file",
            defaultNote: "none",
            summary:
                "A PEM file of certificate authorities to trust in addition to the system's. One that was replaced is read again."
        ),
        Setting(
            name: "oauth.connect_timeout", kind: .integer(\.oauth.connectTimeout, 1...300, unit: "s"),
            takesEffect: .restart,
            summary:
                "How long connecting to a provider may take, and how long it may leave what was sent unacknowledged."),
        Setting(
            name: "oauth.request_timeout", kind: .integer(\.oauth.requestTimeout, 1...600, unit: "s"),
            takesEffect: .restart,
            summary: "How long one whole request to a provider may take. A refresh is waited for as "
                + "long again in the background, because a late answer still counts."),
        Setting(
            name: "lock.after_idle", kind: .integer(\.lock.afterIdle, 0...604_800, unit: "s"), takesEffect: .reload,
            summary: "The broker locks itself after this time without a request. 0: never."),
        Setting(
            name: "lock.on_suspend", kind: .boolean(\.lock.onSuspend), takesEffect: .restart, isPersonal: true,
            summary: "The broker locks itself before the machine sleeps (logind). Not with `--system`."),
        Setting(
            name: "lock.on_screen_lock", kind: .boolean(\.lock.onScreenLock), takesEffect: .restart, isPersonal: true,
            summary: "The broker locks itself when a session of its user is locked (logind). Not with `--system`."),
        Setting(
            name: "access.allow_ad_hoc_clients", kind: .boolean(\.access.allowAdHocClients), takesEffect: .reload,
            defaultNote: "`true`; `false` with `--system`",
            summary: "Whether a caller may bring a client id and an authority of its own instead of a registered app."),
        Setting(
            name: "access.allow_private_authorities", kind: .boolean(\.access.allowPrivateAuthorities),
            takesEffect: .reload, defaultNote: "`true`; `false` with `--system`",
            summary:
                "Whether an authority that a caller brings along may have a host whose name or address says that it is "
                + "on this machine or on a private network. Registered apps may be anywhere."),
        Setting(
            name: "access.ask_in_browser", kind: .boolean(\.access.askInBrowser), takesEffect: .reload,
            defaultNote: "`true`; `false` with `--system`", isPersonal: true,
            summary: "Whether the broker opens a page that asks the person about a program that waits for permission "
                + "(`waitForGrant`). Otherwise, and with `--system`, `brokerctl grants` asks."),
        Setting(
            name: "access.sandboxed", kind: .choice(\.access.sandboxed, BrokerConfiguration.Access.rules),
            takesEffect: .reload,
            summary:
                "What a program in a sandbox may do with an app that does not list it. `allow`: use it, if it lists "
                + "nobody. `ask`: the person is asked. `deny`: nothing, whatever was granted."),
        Setting(
            name: "access.confined", kind: .choice(\.access.confined, BrokerConfiguration.Access.rules),
            takesEffect: .reload, summary: "The same for a program that AppArmor or SELinux confines."),
        Setting(
            name: "access.system_installed",
            kind: .choice(\.access.systemInstalled, BrokerConfiguration.Access.rules), takesEffect: .reload,
            summary: "The same for a system service, or a program that only root can change."),
        Setting(
            name: "access.unknown", kind: .choice(\.access.unknown, BrokerConfiguration.Access.rules),
            takesEffect: .reload,
            summary:
                "The same for any other program outside of sandboxes. brokerctl counts as the program that started it."),
        Setting(
            name: "admin.proof", kind: .choice(\.admin.proof, BrokerConfiguration.Admin.proofs), takesEffect: .reload,
            summary:
                "What a program must show to administer. `outside`: that it runs outside of sandboxes. `setgid`: also that it "
                + "has the group `brokerctl`, which a set-group-id brokerctl has and other programs of the user do not. "
                + "`presence`: for what gives tokens away (an approval, a registration, a sandbox's socket, a backup "
                + "made, merged or put back) and a change of the key's source, also that you authenticate, as polkit asks you."
        ),
        Setting(
            name: "interaction.max_open", kind: .integer(\.interaction.maxOpen, 1...1_000, unit: nil),
            takesEffect: .reload,
            summary: "Sign-ins, and sign-outs in a browser, that may wait for a person at a time."),
        Setting(
            name: "interaction.max_open_each", kind: .integer(\.interaction.maxOpenEach, 1...1_000, unit: nil),
            takesEffect: .reload,
            summary: "How many of them one app may have, and one program or sandbox, whatever apps it names."),
        Setting(
            name: "interaction.allow_redirects_of_other_users",
            kind: .boolean(\.interaction.allowRedirectsOfOtherUsers), takesEffect: .restart,
            summary:
                "Whether a sign-in may be finished by a browser of another user of this machine, who could finish it as somebody "
                + "else. For browsers that run under an account of their own."),
        Setting(
            name: "interaction.form_post", kind: .boolean(\.interaction.formPost), takesEffect: .reload,
            summary:
                "Whether a provider that offers it sends the code to loopback in a form: it is then in no address and no history, "
                + "and a redirect that did not arrive cannot be pasted."),
        Setting(
            name: "cache.expiry_buffer", kind: .integer(\.cache.expiryBuffer, 0...3_600, unit: "s"),
            takesEffect: .reload,
            summary:
                "A cached token this close to its expiry is refreshed instead of handed out, unless the request says how "
                + "long it must be good for. At most a fifth of the token's own lifetime counts."
        ),
        Setting(
            name: "cache.refresh_share", kind: .integer(\.cache.refreshShare, 0...99, unit: "%"), takesEffect: .reload,
            summary: "A token that has lived this share of its lifetime is renewed in the background, if its provider "
                + "does not say when (`refresh_in`). 0: only when it expires."),
        Setting(
            name: "cache.extended_lifetime", kind: .boolean(\.cache.extendedLifetime), takesEffect: .reload,
            summary: "Whether a token past its expiry is handed out while the provider is down, for as long as the "
                + "provider allows (`ext_expires_in`)."),
        Setting(
            name: "browser.command", kind: .command(\.browser.command), takesEffect: .reload,
            defaultNote: "`$BROWSER`, else the desktop's portal, else xdg-open",
            summary:
                "The command with which the broker itself opens a sign-in page (presentation `broker`). `%u` in "
                + "an argument stands for the address, which comes last otherwise."),
        Setting(
            name: "device.mode", kind: .choice(\.device.mode, ["private", "shared"]), takesEffect: .reload,
            summary: "Who uses this machine. `shared`: people take turns, and a sign-out is for all apps."),
        Setting(
            name: "log.level",
            kind: .choice(\.log.level, ["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            takesEffect: .reload, flag: "--log-level", environment: "BROKER_LOG_LEVEL",
            summary: "The least severe entries that are logged."),
        Setting(
            name: "log.names", kind: .choice(\.log.names, BrokerConfiguration.Log.nameStyles), takesEffect: .reload,
            summary:
                "How the log names people and their accounts. `hashed`: by a word that is the same for the same name and made "
                + "with the vault's key. `none`: not at all. With either, what a provider says about a failure is left out."
        ),
    ]

    package static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// Like ``named(_:)``, but also finds former names.
    static func called(_ name: String, among settings: [Setting]) -> Setting? {
        settings.first { $0.name == name } ?? settings.first { $0.formerNames.contains(name) }
    }
}
