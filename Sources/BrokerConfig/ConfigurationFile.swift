import Glibc
import TOMLKit

/// A TOML file, read and flattened to `table.key`.
struct ConfigurationFile {
    var path: String
    var values: [(name: String, value: SettingValue)]
    /// The tables `[provider."https://issuer"]`.
    var providers: [(provider: String, key: String, value: SettingValue)]
    private var lines: KeyLines

    /// Configuration is a page of text; this bounds what a wrong path can cost.
    static let sizeLimit = 1 << 20

    /// - Returns: nil when there is no such file.
    static func read(_ path: String) throws(ConfigurationError) -> ConfigurationFile? {
        guard let text = try contents(of: path) else { return nil }
        return try ConfigurationFile(path: path, text: text)
    }

    init(path: String, text: String) throws(ConfigurationError) {
        self.path = path
        // The parser takes a C string: it would not see what follows a NUL.
        guard !text.utf8.contains(0) else {
            throw ConfigurationError(.syntax, "there is a NUL in the text", at: .file(path: path, line: nil))
        }
        lines = KeyLines(text)
        do {
            let all = Self.flatten(try TOMLTable(string: text), under: [])
            values = all.filter { $0.path.first != "provider" || $0.path.count < 3 }
                .map { ($0.path.joined(separator: "."), $0.value) }
            providers = all.filter { $0.path.first == "provider" && $0.path.count >= 3 }
                .map { ($0.path[1], $0.path.dropFirst(2).joined(separator: "."), $0.value) }
        } catch let error as TOMLParseError {
            throw ConfigurationError(
                .syntax, "not valid TOML: \(error.description)",
                at: .file(path: path, line: error.source.begin.line))
        } catch {
            throw ConfigurationError(.syntax, "not valid TOML", at: .file(path: path, line: nil))
        }
    }

    func origin(of name: String) -> ConfigurationOrigin { .file(path: path, line: lines[name]) }

    private static func flatten(_ table: TOMLTable, under prefix: [String]) -> [(path: [String], value: SettingValue)] {
        table.flatMap { key, value -> [(path: [String], value: SettingValue)] in
            let path = prefix + [key]
            if let inner = value.table { return flatten(inner, under: path) }
            let given: SettingValue =
                switch value.type {
                case .bool: value.bool.map { .boolean($0) } ?? .other("a boolean")
                case .int: value.int.map { .integer($0) } ?? .other("an integer")
                case .string: value.string.map { .string($0) } ?? .other("a string")
                case .double: .other("a number with a fraction")
                case .array: words(value.array).map { .words($0) } ?? .other("an array")
                case .date, .time, .dateTime: .other("a date or time")
                case .table: .other("a table")
                }
            return [(path, given)]
        }
    }

    /// - Returns: nil when it holds anything but strings.
    private static func words(_ array: TOMLArray?) -> [String]? {
        guard let array else { return nil }
        let words = array.compactMap(\.string)
        return words.count == array.count ? words : nil
    }

    /// The file must be one that nobody but the daemon's user and root can have written: it decides which certificates
    /// are trusted.
    private static func contents(of path: String) throws(ConfigurationError) -> String? {
        let origin = ConfigurationOrigin.file(path: path, line: nil)
        let file = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw ConfigurationError(.unreadable, "cannot be read: \(String(cString: strerror(errno)))", at: origin)
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
                throw ConfigurationError(.unreadable, "cannot be read: \(String(cString: strerror(errno)))", at: origin)
            }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
