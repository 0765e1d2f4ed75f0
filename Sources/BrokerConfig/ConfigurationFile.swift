import BrokerSystem
import Glibc

/// A TOML file, read and flattened to `table.key`.
struct ConfigurationFile {
    var path: String
    var values: [(name: String, value: SettingValue, origin: ConfigurationOrigin)] = []
    /// The tables `[provider."https://issuer"]`.
    var providers: [(provider: String, key: String, value: SettingValue, origin: ConfigurationOrigin)] = []

    /// The tables `[sandbox.NAME]`.
    var sandboxes: [(name: String, key: String, value: SettingValue, origin: ConfigurationOrigin)] = []

    /// Configuration is a page of text; this bounds what a wrong path can cost.
    static let sizeLimit = 1 << 20

    /// - Returns: nil when there is no such file.
    static func read(_ path: String) throws(ConfigurationError) -> ConfigurationFile? {
        guard let text = try text(of: path) else { return nil }
        return try ConfigurationFile(path: path, text: text)
    }

    /// Of the folder's `*.toml`, in the order of their names; none when there is no such folder.
    static func paths(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().map { "\(folder)/\($0)" }
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
            } else if entry.path == ["browser"] {
                // There is nothing else to be said of a browser than what starts it.
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

    /// The file must be one that nobody but the daemon's user and root can have written: it decides which certificates
    /// are trusted.
    static func text(of path: String) throws(ConfigurationError) -> String? {
        let origin = ConfigurationOrigin.file(path: path, line: nil)
        let file = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ConfigurationError(.unreadable, "cannot be read: \(errnoText(errno))", at: origin)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ConfigurationError(.unreadable, "is not a regular file", at: origin)
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw ConfigurationError(.unsafeFile, "belongs to another user; make it yours or root's", at: origin)
        }
        let writableByOthers =
            status.st_mode & S_IWOTH != 0 || (status.st_mode & S_IWGRP != 0 && status.st_gid != getegid())
        guard !writableByOthers else {
            throw ConfigurationError(.unsafeFile, "can be written by others; run chmod go-w on it", at: origin)
        }
        guard status.st_size <= sizeLimit else {
            throw ConfigurationError(.unreadable, "is larger than \(sizeLimit) bytes", at: origin)
        }
        let bytes = try readAll(file, origin: origin)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(.syntax, "is not UTF-8", at: origin)
        }
        return text
    }

    private static func readAll(_ file: Int32, origin: ConfigurationOrigin) throws(ConfigurationError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: sizeLimit)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress.map { $0 + filled }, $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ConfigurationError(.unreadable, "cannot be read: \(errnoText(errno))", at: origin)
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
