import BrokerConfig

/// brokerd-config(5), from the schema.
enum ConfigurationPage {
    static var page: Roff {
        var page = Roff("brokerd-config", section: 5, title: "File Formats")
        page.section("NAME")
        page.synopsis("brokerd-config - settings of the token broker")
        page.section("DESCRIPTION")
        page.paragraphs(
            """
            `brokerd`(8) runs without any configuration. Settings come from, strongest first: flags, environment variables, \
            the person's file (`~/.config/brokerd/config.toml`), the machine's file (`/etc/brokerd/config.toml`), the \
            defaults below. A file counts only when it belongs to the daemon's user or to root and nobody else can write to it.

            An unknown setting, a wrong type or a value out of range is an error that gives the file, the line and the \
            correction; the daemon then exits with status 2. `brokerctl config show` lists every setting, its value and its \
            origin.

            Files are TOML. The part of a setting's name before the dot is its table:

              [oauth]
              request_timeout = 20
              [log]
              level = "notice"
            """)
        page.section("SETTINGS")
        for setting in Setting.all { page.item("`\(setting.name)`", setting.manual) }
        page.section("PROVIDERS")
        page.paragraphs(
            """
            Most providers need none of this, because discovery suffices. An administrator describes one in a table named by \
            its issuer, which overrides its metadata document:

              [provider."https://id.example/realm"]
              token_endpoint = "https://id.example/token"
            """)
        for setting in ProviderSetting.all {
            page.item("`\(setting.name)`", "\(setting.summary) Value: \(setting.kind.documentation).")
        }
        page.section("NAMES FOR OIDC-AGENT")
        page.paragraphs(
            """
            \(AccountTable.summary)

              [doors.oidc_agent_accounts]
              wlcg = "grid"
            """)
        page.section("FILES")
        page.item("`~/.config/brokerd/config.toml`", "The person's settings. `$XDG_CONFIG_HOME` moves it.")
        page.item("`/etc/brokerd/config.toml`", "The machine's settings.")
        page.item(
            "`config.d/*.toml`", "Next to each of these, read after it and overriding it, in order of name.")
        page.item("`apps.d/*.toml`", "Next to these, and in `/usr/share/brokerd/apps.d`: apps that files register.")
        page.section("SEE ALSO")
        page.synopsis("`brokerctl`(1), `brokerd`(8), `brokerd-protocol`(7)")
        return page
    }
}

extension Setting {
    fileprivate var manual: String {
        let sources = [flag, environment.map { "$" + $0 }].compactMap { $0.map { "`\($0)`" } }
        let also = sources.isEmpty ? "" : " Also: \(sources.joined(separator: ", "))."
        let when = takesEffect == .reload ? "on reload" : "after a restart"
        return "\(summary) Value: \(kind.documentation). Default: \(standard). Takes effect \(when).\(also)"
    }
}
