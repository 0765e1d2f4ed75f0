import Glibc

extension String {
    /// The path with all links resolved; `nil` if it does not exist.
    var realPath: String? {
        guard let resolved = realpath(self, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
