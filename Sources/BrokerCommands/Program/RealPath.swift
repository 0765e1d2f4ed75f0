import Glibc

extension String {
    /// The path as a file's, with all links followed; nil when it leads nowhere.
    var realPath: String? {
        guard let resolved = realpath(self, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
