/// The files that a configuration is read from.
package enum ConfigurationFiles: Sendable, Equatable {
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

    /// Weakest first.
    func read() throws(ConfigurationError) -> [TOMLFile] {
        switch self {
        case .only(let path):
            guard let file = try TOMLFile.read(path) else {
                throw ConfigurationError(.unreadable, "there is no such file", at: .file(path: path, line: nil))
            }
            return [file]
        case .standard(let paths):
            var found: [TOMLFile] = []
            for path in paths.reversed() {
                let folder = try ConfigurationFolder(Self.folder("config.d", beside: path))
                if let mistake = folder.mistakes.first { throw mistake }
                for path in [path] + folder.paths {
                    if let file = try TOMLFile.read(path) { found.append(file) }
                }
            }
            return found
        }
    }

    private static func folder(_ name: String, beside path: String) -> String {
        path.lastIndex(of: "/").map { "\(path[...$0])\(name)" } ?? name
    }
}
