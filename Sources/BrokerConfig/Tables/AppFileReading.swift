import BrokerValues

extension AppFiles {
    /// - Parameter folders: strongest first; an app in one hides apps of the same name in the next. Each may be missing.
    init(folders: [String]) throws(ConfigurationError) {
        var byName: [String: AppFileEntry] = [:]
        var mistakes: [ConfigurationError] = []
        for folder in folders.reversed() {
            let files = try ConfigurationFolder(folder)
            mistakes += files.mistakes
            for path in files.paths {
                do throws(ConfigurationError) {
                    for entry in try Self.apps(of: path) { byName[entry.description.name] = entry }
                } catch {
                    mistakes.append(error)
                }
            }
        }
        self.init(entries: byName.values.sorted { $0.description.name < $1.description.name }, mistakes: mistakes)
    }

    private static func apps(of path: String) throws(ConfigurationError) -> [AppFileEntry] {
        guard let file = try TOMLFile.read(path) else { return [] }
        var apps: [String: AppFileEntry] = [:]
        for entry in file.entries.sorted(by: { $0.line < $1.line }) {
            let origin = file.origin(of: entry)
            guard let name = entry.path.first, entry.path.count > 1 else { throw notAnApp(at: origin) }
            var app = apps[name] ?? AppFileEntry(name: name, origin: "\(origin)")
            try assign(entry.value, to: entry.path[1...], at: origin, &app)
            apps[name] = app
        }
        for app in apps.values where app.description.clientID.isEmpty || app.authority.isEmpty {
            throw ConfigurationError(
                .outOfRange, "the app \(app.description.name) needs a client_id and an authority",
                at: .file(path: path, line: nil))
        }
        return Array(apps.values)
    }

    /// - Parameter place: the key in the app's table, or `query` and the name of a parameter.
    private static func assign(
        _ value: SettingValue, to place: ArraySlice<String>, at origin: ConfigurationOrigin, _ app: inout AppFileEntry
    ) throws(ConfigurationError) {
        if place.count == 2, place.first == "query", let parameter = place.last {
            guard case .string(let text) = value else {
                throw ConfigurationError(.wrongType, "query: \(parameter) expects a string", at: origin)
            }
            app.description.query = (app.description.query ?? [:]).merging([parameter: text]) { $1 }
            return
        }
        guard place.count == 1, let key = place.first else { throw notAnApp(at: origin) }
        try TableKey.assign(value, to: key, of: "an app", among: TableKey<AppFileEntry>.all, at: origin, &app)
    }

    private static func notAnApp(at origin: ConfigurationOrigin) -> ConfigurationError {
        ConfigurationError(
            .unknownKey, "an app is a table that has its name, with keys in it: [mail]", at: origin)
    }
}
