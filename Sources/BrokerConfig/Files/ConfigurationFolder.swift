import BrokerSystem
import Glibc

/// The `*.toml` of a folder; none where there is no such folder.
struct ConfigurationFolder {
    /// Sorted by name.
    private(set) var paths: [String] = []
    /// Names that cannot be used to open a file.
    private(set) var mistakes: [ConfigurationError] = []

    /// - Throws: if the folder cannot be read. Its files might forbid something, so it does not count as empty.
    init(_ path: String) throws(ConfigurationError) {
        let found: FolderNames
        do throws(FileError) {
            found = try FolderNames(of: path)
        } catch {
            // A file in the folder's place is a mistake; one further up means that there is no folder.
            if error.isAbsence, access(path, F_OK) != 0 { return }
            throw ConfigurationError(error, at: path)
        }
        paths = Self.files(among: found.names).map { "\(path)/\($0)" }
        mistakes = Self.files(among: found.repaired).map {
            ConfigurationError(.unreadable, "its name is not UTF-8", at: .file(path: "\(path)/\($0)", line: nil))
        }
    }

    private static func files(among names: [String]) -> [String] {
        names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }.sorted()
    }
}
