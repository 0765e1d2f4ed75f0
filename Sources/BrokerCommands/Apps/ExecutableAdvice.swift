import Glibc

/// Warnings about a program that an app lists. The broker compares the path with the running file, so a path that does not
/// exist or contains a link admits no caller; the file may also be installed later.
enum ExecutableAdvice {
    /// For any program, if the broker has an account of its own and may not inspect the programs of others.
    static let system =
        "This broker serves every user and cannot identify programs by path; list system units instead (--unit)."

    /// - Returns: one sentence; `nil` if the program exists at exactly this path.
    static func on(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return "\(path) is not an absolute path, by which programs are identified." }
        guard let resolved = path.realPath else { return "\(path) does not exist yet, so no program matches it." }
        guard resolved == path else { return "\(path) is a link to \(resolved), the program that runs; list that." }
        guard access(path, X_OK) == 0 else { return "\(path) is not an executable program." }
        return nil
    }
}
