import BrokerSystem

/// A TOML file, read and flattened to `table.key`.
struct ConfigurationFile {
    var path: String
    var values: [(name: String, value: SettingValue, origin: ConfigurationOrigin)] = []
    /// The tables `[provider."https://issuer"]`.
    var providers: [(provider: String, key: String, value: SettingValue, origin: ConfigurationOrigin)] = []

    /// The table `[doors.oidc_agent_accounts]`.
    var accounts: [(alias: String, value: SettingValue, origin: ConfigurationOrigin)] = []

    /// The tables `[sandbox.NAME]`.
    var sandboxes: [(name: String, key: String, value: SettingValue, origin: ConfigurationOrigin)] = []

    /// Configuration is a page of text; this bounds what a wrong path can cost.
    static let sizeLimit = 1 << 20

    /// - Returns: `nil` if there is no such file.
    static func read(_ path: String) throws(ConfigurationError) -> ConfigurationFile? {
        guard let text = try text(of: path) else { return nil }
        return try ConfigurationFile(path: path, text: text)
    }

    init(path: String, text: String) throws(ConfigurationError) {
        self.path = path
        for entry in try Self.entries(of: text, at: path) {
            let origin = ConfigurationOrigin.file(path: path, line: entry.line)
            if entry.path.count >= 3, entry.path[0] == "provider" {
                let key = entry.path.dropFirst(2).joined(separator: ".")
                providers.append((entry.path[1], key, entry.value, origin))
            } else if entry.path.count == 3, entry.path[0] == "sandbox" {
                sandboxes.append((entry.path[1], entry.path[2], entry.value, origin))
            } else if entry.path.count == 3, entry.path[..<2] == ["doors", AccountTable.key] {
                accounts.append((entry.path[2], entry.value, origin))
            } else if entry.path == ["browser"] {
                // The command is the only setting of a browser.
                guard let command = entry.value.command else {
                    throw ConfigurationError(.outOfRange, "browser: a quote or a backslash is left open", at: origin)
                }
                values.append(("browser.command", command, origin))
            } else {
                values.append((entry.path.joined(separator: "."), entry.value, origin))
            }
        }
    }

    static func entries(of text: String, at path: String) throws(ConfigurationError) -> [TOMLDocument.Entry] {
        do throws(TOMLDocument.Failure) {
            return try TOMLDocument(text).entries
        } catch {
            throw ConfigurationError(
                .syntax, "not valid TOML: \(error.message)",
                at: .file(path: path, line: error.line > 0 ? error.line : nil))
        }
    }

    /// Only the daemon's user and root may be able to write the file: it decides which certificates are trusted.
    static func text(of path: String) throws(ConfigurationError) -> String? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try readFile(at: path, atMost: sizeLimit, isTrusted: true)
        } catch {
            if error.isAbsence { return nil }
            throw ConfigurationError(error, at: path)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(.syntax, "is not UTF-8", at: .file(path: path, line: nil))
        }
        return text
    }
}
