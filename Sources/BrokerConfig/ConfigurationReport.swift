import BrokerValues

extension LoadedConfiguration {
    /// One line per setting, as `--check-config` prints it. Invisible characters of a value are escaped.
    package var report: String {
        let apps = configuration.apps.entries.map { "app.\(TOMLText.quoted($0.description.name))  # \($0.origin)" }
        let lines =
            Setting.all.map(line) + AccountTable.report(self) + ProviderTables.report(self) + SandboxTable.report(self)
            + apps
        return lines.map { SafeText($0, atMost: 4096, .escape).text }.joined(separator: "\n")
    }

    private func line(_ setting: Setting) -> String {
        let value = setting.kind.text(in: configuration)
        return "\(setting.name) = \(value.isEmpty ? "(not set)" : value)  # \(origin(of: setting.name))"
    }
}
