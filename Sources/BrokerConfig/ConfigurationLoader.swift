import BrokerValues

/// Assembles the configuration: flags override the environment, then the user's file, the machine's file, and the defaults.
package struct ConfigurationLoader: Sendable {
    /// Setting name to text, as given on the command line: `["socket.path": "/run/b.sock"]`.
    package var flags: [String: String]
    package var environment: [String: String]
    package var files: ConfigurationFiles
    package var isSystemMode: Bool
    /// The available key sources.
    package var keySources: [String]
    /// The settings that files may contain.
    package var settings = Setting.all

    package init(
        flags: [String: String] = [:], environment: [String: String] = [:], files: ConfigurationFiles,
        isSystemMode: Bool = false, keySources: [String] = ["key-file"]
    ) {
        self.flags = flags
        self.environment = environment
        self.files = files
        self.isSystemMode = isSystemMode
        self.keySources = keySources
    }

    /// Reads the files each time: call it again to reload.
    package func load() throws(ConfigurationError) -> LoadedConfiguration {
        var result = LoadedConfiguration(configuration: BrokerConfiguration(isSystemMode: isSystemMode))
        for file in try files.read().map(ConfigurationFile.init) { try take(file, into: &result) }
        try ProviderTables.check(result)
        try SandboxTable.check(result)
        try takeEnvironment(into: &result)
        try takeFlags(into: &result)
        if isSystemMode { remarkPersonal(in: &result) }
        result.configuration.apps = try AppFiles(folders: files.appFolders)
        return result
    }

    private func take(
        _ file: ConfigurationFile, into result: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        for (name, value, origin) in file.values {
            guard let setting = Setting.called(name, among: settings) else { throw Self.unknown(name, at: origin) }
            if name != setting.name {
                let isBeside = file.values.contains { $0.name == setting.name }
                result.configuration.remarks.append(
                    "\(origin): \(name) is called \(setting.name) now; "
                        + (isBeside
                            ? "it is ignored, because both are set." : "it still counts, but write the new name.")
                )
                if isBeside { continue }
            }
            try assign(value, to: setting, at: origin, in: &result)
        }
        for entry in file.providers { try ProviderTables.assign(entry, to: &result) }
        for entry in file.sandboxes { try SandboxTable.assign(entry, to: &result) }
        for entry in file.accounts { try AccountTable.assign(entry, to: &result) }
    }

    /// An empty variable counts as one that is not set.
    private func takeEnvironment(into result: inout LoadedConfiguration) throws(ConfigurationError) {
        for setting in Setting.all {
            guard let name = setting.environment, let text = environment[name], !text.isEmpty else { continue }
            try assign(setting.value(fromText: text), to: setting, at: .environment(name), in: &result)
        }
    }

    private func takeFlags(into result: inout LoadedConfiguration) throws(ConfigurationError) {
        for (name, text) in flags.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting.named(name) else { throw Self.unknown(name, at: .flag(name)) }
            let origin = ConfigurationOrigin.flag(setting.flag ?? name)
            try assign(setting.value(fromText: text), to: setting, at: origin, in: &result)
        }
    }

    /// A system broker has no session and no browser: its remarks name the settings that need them.
    private func remarkPersonal(in result: inout LoadedConfiguration) {
        let configuration = result.configuration
        var names = Setting.all.filter { $0.isPersonal && $0.kind.text(in: configuration) != "false" }.map(\.name)
        names += configuration.sandboxes.keys.sorted().map { "sandbox." + $0 }
        for name in names {
            result.configuration.remarks.append(
                "\(result.origin(of: name)): \(name) has no effect with --system: it is for a person's own broker.")
        }
    }

    private func assign(
        _ value: SettingValue, to setting: Setting, at origin: ConfigurationOrigin,
        in result: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        do {
            try setting.assign(
                value, home: environment["HOME"], keySources: keySources, to: &result.configuration)
        } catch {
            throw ConfigurationError(error.code, "\(setting.name): \(error.text)", at: origin)
        }
        result.origins[setting.name] = origin
    }

    private static func unknown(_ name: String, at origin: ConfigurationOrigin) -> ConfigurationError {
        let hint = Spelling.hint(for: name, among: Setting.all.map(\.name))
        return ConfigurationError(.unknownKey, "there is no setting \(name)\(hint)", at: origin)
    }
}
