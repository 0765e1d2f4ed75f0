import Glibc

/// What is odd about a program that an app lists. The broker compares it with the file that really runs, so that a name that
/// leads nowhere, or by a link, lets nobody in; it may also be there later.
enum ExecutableAdvice {
    /// Of each, where the broker has an account of its own and may not look at programs of others.
    static let system =
        "This broker serves every user and knows no program by its path, so nobody comes in by one; list units of the system's (--unit)."

    /// - Returns: one sentence; nil when the program is there under this very name.
    static func on(_ path: String) -> String? {
        guard path.hasPrefix("/") else { return "\(path) is no whole path; programs are known by theirs." }
        guard let resolved = path.realPath else { return "There is no \(path); nobody can ask as it yet." }
        guard resolved == path else { return "\(path) is a link, and what runs is \(resolved); list that one." }
        guard access(path, X_OK) == 0 else { return "\(path) is no program that can be run." }
        return nil
    }
}
