import BrokerModel
import BrokerValues

/// Assembles the configuration: flags override the environment, then the user's file, the machine's file, and the defaults.
package struct ConfigurationLoader: Sendable {
    /// Setting name to text, as given on the command line: `["socket.path": "/run/b.sock"]`.
    package var flags: [String: String]
    package var environment: [String: String]
    package var files: Files
    package var isSystemMode: Bool
    /// The available key sources.
    package var keySources: [String]
    /// The settings that files may contain.
    package var settings = Setting.all

    package enum Files: Sendable, Equatable {
        /// Where the host's conventions put them, strongest first. Each may be missing. Files in `config.d` next to one
        /// override it, the last name first.
        case standard([String])
        /// The file that `--config` names, instead of the others. It must exist.
        case only(String)

        /// Strongest first.
        package var paths: [String] {
            switch self {
            case .standard(let paths): paths
            case .only(let path): [path]
            }
        }

        /// Next to the files, strongest first; the last is for packages.
        var appFolders: [String] {
            switch self {
            case .standard(let paths): paths.map { Self.folder("apps.d", beside: $0) } + ["/usr/share/brokerd/apps.d"]
            case .only(let path): [Self.folder("apps.d", beside: path)]
            }
        }

        fileprivate static func folder(_ name: String, beside path: String) -> String {
            path.lastIndex(of: "/").map { "\(path[...$0])\(name)" } ?? name
        }
    }

    package init(
        flags: [String: String] = [:], environment: [String: String] = [:], files: Files, isSystemMode: Bool = false,
        keySources: [String] = ["key-file"]
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
        for file in try readFiles() {
            for (name, value, origin) in file.values {
                guard let setting = Setting.called(name, among: settings) else { throw Self.unknown(name, at: origin) }
                if name != setting.name {
                    let isBeside = file.values.contains { $0.name == setting.name }
                    result.configuration.remarks.append(
                        "\(origin): \(name) is called \(setting.name) now; "
                            + (isBeside
                                ? "it is ignored, because both are set." : "it still counts, but write the new name."))
                    if isBeside { continue }
                }
                try assign(value, to: setting, at: origin, in: &result)
            }
            for entry in file.providers { try assign(entry, to: &result) }
            for entry in file.sandboxes { try assign(entry, to: &result) }
            for entry in file.accounts { try AccountTable.assign(entry, to: &result) }
        }
        for provider in result.configuration.providers.keys.sorted() {
            guard let mistake = result.configuration.mistake(inCloudsOf: provider) else { continue }
            throw ConfigurationError(
                .outOfRange, "other_clouds: \(mistake)",
                at: result.origins["provider.\(provider).other_clouds"] ?? .default)
        }
        for (name, sandbox) in result.configuration.sandboxes.sorted(by: { $0.key < $1.key }) {
            guard let mistake = SandboxTable.mistake(in: sandbox, named: name) else { continue }
            let (key, text) = mistake
            throw ConfigurationError(
                .outOfRange, key.map { "\($0): " + text } ?? text,
                at: key.flatMap { result.origins["sandbox.\(name).\($0)"] } ?? result.origins["sandbox.\(name)"]
                    ?? .default)
        }
        for setting in Setting.all {
            // An empty variable counts as one that is not set.
            if let name = setting.environment, let text = environment[name], !text.isEmpty {
                try assign(setting.value(fromText: text), to: setting, at: .environment(name), in: &result)
            }
        }
        for (name, text) in flags.sorted(by: { $0.key < $1.key }) {
            guard let setting = Setting.named(name) else { throw Self.unknown(name, at: .flag(name)) }
            let origin = ConfigurationOrigin.flag(setting.flag ?? name)
            try assign(setting.value(fromText: text), to: setting, at: origin, in: &result)
        }
        if isSystemMode { remarkPersonal(in: &result) }
        result.configuration.apps = try AppFiles(folders: files.appFolders)
        return result
    }

    /// A system broker has no session and no browser: its remarks name the settings that need them.
    private func remarkPersonal(in result: inout LoadedConfiguration) {
        let configuration = result.configuration
        var names = Setting.all.filter { $0.isPersonal && $0.kind.text(in: configuration) != "false" }.map(\.name)
        names += configuration.sandboxes.keys.sorted().map { "sandbox." + $0 }
        for name in names {
            let origin = result.origins[name] ?? .default
            result.configuration.remarks.append(
                "\(origin): \(name) has no effect with --system: it is for a person's own broker.")
        }
    }

    /// Weakest first.
    private func readFiles() throws(ConfigurationError) -> [ConfigurationFile] {
        switch files {
        case .only(let path):
            guard let file = try ConfigurationFile.read(path) else {
                throw ConfigurationError(.unreadable, "there is no such file", at: .file(path: path, line: nil))
            }
            return [file]
        case .standard(let paths):
            var found: [ConfigurationFile] = []
            for path in paths.reversed() {
                let folder = try ConfigurationFolder(Files.folder("config.d", beside: path))
                if let mistake = folder.mistakes.first { throw mistake }
                for path in [path] + folder.paths {
                    if let file = try ConfigurationFile.read(path) { found.append(file) }
                }
            }
            return found
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

    private func assign(
        _ entry: (provider: String, key: String, value: SettingValue, origin: ConfigurationOrigin),
        to result: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        let origin = entry.origin
        guard Authority.issuer(entry.provider) != nil else {
            throw ConfigurationError(
                .outOfRange,
                "a provider's table is named by its issuer or host, as in [provider.\"https://issuer.example\"]; "
                    + "\"\(entry.provider)\" is no such URL", at: origin)
        }
        guard let setting = ProviderSetting.named(entry.key) else {
            let hint = Spelling.hint(for: entry.key, among: ProviderSetting.all.map(\.name))
            throw ConfigurationError(
                .unknownKey, "there is no setting \(entry.key) of a provider\(hint)", at: origin)
        }
        do {
            try setting.assign(entry.value, to: &result.configuration.providers[entry.provider, default: .init()])
        } catch {
            throw ConfigurationError(error.code, "\(entry.key): \(error.text)", at: origin)
        }
        if let other = result.configuration.contradiction(to: entry.provider) {
            throw ConfigurationError(
                .outOfRange, "kind: the table of \(other) says that this host is of another kind", at: origin)
        }
        result.origins["provider.\(entry.provider).\(entry.key)"] = origin
    }

    private func assign(
        _ entry: (name: String, key: String, value: SettingValue, origin: ConfigurationOrigin),
        to result: inout LoadedConfiguration
    ) throws(ConfigurationError) {
        let new = Sandbox(engine: "", id: entry.name, rights: [.token])
        try TableKey.assign(
            entry.value, to: entry.key, of: "a sandbox", among: TableKey<Sandbox>.all, at: entry.origin,
            &result.configuration.sandboxes[entry.name, default: new])
        for place in ["sandbox.\(entry.name)", "sandbox.\(entry.name).\(entry.key)"] {
            result.origins[place] = entry.origin
        }
    }

    private static func unknown(_ name: String, at origin: ConfigurationOrigin) -> ConfigurationError {
        let hint = Spelling.hint(for: name, among: Setting.all.map(\.name))
        return ConfigurationError(.unknownKey, "there is no setting \(name)\(hint)", at: origin)
    }
}

/// A configuration, and the origin of each value that is not the default.
package struct LoadedConfiguration: Sendable, Equatable {
    package var configuration: BrokerConfiguration
    package var origins: [String: ConfigurationOrigin] = [:]

    /// One line per setting, as `--check-config` prints it. Invisible characters of a value are escaped.
    package var report: String {
        (Setting.all.map(line) + AccountTable.report(self) + configuration.providers.keys.sorted().flatMap(lines)
            + configuration.sandboxes.sorted { $0.key < $1.key }.map { name, sandbox in
                "sandbox.\(name) = \(sandbox.name)  # \(origins["sandbox.\(name)"] ?? .default)"
            }
            + configuration.apps.entries.map { "app.\(Setting.Kind.quoted($0.description.name))  # \($0.origin)" })
            .map { SafeText($0, atMost: 4096, .escape).text }.joined(separator: "\n")
    }

    private func line(_ setting: Setting) -> String {
        let value = setting.kind.text(in: configuration)
        let shown = value.isEmpty ? "(not set)" : value
        return "\(setting.name) = \(shown)  # \(origins[setting.name] ?? .default)"
    }

    private func lines(provider: String) -> [String] {
        let table = configuration.providers[provider] ?? ProviderTable()
        return ProviderSetting.all.compactMap { setting in
            guard let value = setting.text(in: table) else { return nil }
            let origin = origins["provider.\(provider).\(setting.name)"] ?? .default
            return "provider.\(Setting.Kind.quoted(provider)).\(setting.name) = \(value)  # \(origin)"
        }
    }
}
