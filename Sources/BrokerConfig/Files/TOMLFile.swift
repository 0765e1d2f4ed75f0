import BrokerSystem

/// A TOML file of the configuration: its keys with their values, as the disk has them.
struct TOMLFile {
    let path: String
    let entries: [TOMLDocument.Entry]

    /// Configuration is a page of text; this bounds what a wrong path can cost.
    private static let sizeLimit = 1 << 20

    /// - Returns: `nil` if there is no such file.
    static func read(_ path: String) throws(ConfigurationError) -> TOMLFile? {
        guard let text = try text(of: path) else { return nil }
        do throws(TOMLDocument.Failure) {
            return TOMLFile(path: path, entries: try TOMLDocument(text).entries)
        } catch {
            throw ConfigurationError(
                .syntax, "not valid TOML: \(error.message)",
                at: .file(path: path, line: error.line > 0 ? error.line : nil))
        }
    }

    func origin(of entry: TOMLDocument.Entry) -> ConfigurationOrigin { .file(path: path, line: entry.line) }

    /// Only the daemon's user and root may be able to write the file: it decides which certificates are trusted.
    private static func text(of path: String) throws(ConfigurationError) -> String? {
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
