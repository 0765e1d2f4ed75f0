/// A file of settings: its values by the kind of table that they are in.
struct ConfigurationFile {
    /// The names are flattened: `table.key`.
    private(set) var values: [(name: String, value: SettingValue, origin: ConfigurationOrigin)] = []
    /// The tables `[provider."https://issuer"]`.
    private(set) var providers: [TableEntry] = []
    /// The table `[doors.oidc_agent_accounts]`.
    private(set) var accounts: [TableEntry] = []
    /// The tables `[sandbox.NAME]`.
    private(set) var sandboxes: [TableEntry] = []

    init(_ file: TOMLFile) throws(ConfigurationError) {
        for entry in file.entries { try add(entry, at: file.origin(of: entry)) }
    }

    private mutating func add(
        _ entry: TOMLDocument.Entry, at origin: ConfigurationOrigin
    ) throws(ConfigurationError) {
        let (path, value) = (entry.path, entry.value)
        if path.count >= 3, path[0] == "provider" {
            let key = path.dropFirst(2).joined(separator: ".")
            providers.append(TableEntry(table: path[1], key: key, value: value, origin: origin))
        } else if path.count == 3, path[0] == "sandbox" {
            sandboxes.append(TableEntry(table: path[1], key: path[2], value: value, origin: origin))
        } else if path.count == 3, path[..<2] == ["doors", AccountTable.key] {
            accounts.append(TableEntry(table: path[1], key: path[2], value: value, origin: origin))
        } else if path == ["browser"] {
            // The command is the only setting of a browser.
            guard let command = value.command else {
                throw ConfigurationError(.outOfRange, "browser: a quote or a backslash is left open", at: origin)
            }
            values.append(("browser.command", command, origin))
        } else {
            values.append((path.joined(separator: "."), value, origin))
        }
    }
}
