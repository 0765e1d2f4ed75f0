import Glibc

/// The environment of the process as a value.
package enum ProcessEnvironment {
    package static func current() -> [String: String] {
        var variables: [String: String] = [:]
        for pair in pairs() {
            if let equals = pair.firstIndex(of: "=") {
                variables[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
        }
        return variables
    }

    /// The environment at the first access. Programs that this process starts get it, with the variables that ``keep(where:)`` has
    /// unset.
    package static let atStart = current()

    /// Unsets all other variables, for the libraries of this process. Call it while the process has one thread: getenv(3) in
    /// another one might read what is being changed.
    package static func keep(where isKept: (String) -> Bool) {
        _ = atStart
        for pair in pairs() {
            let name = String(pair.prefix { $0 != "=" })
            if !isKept(name) { unsetenv(name) }
        }
    }

    private static func pairs() -> [String] {
        var pairs: [String] = []
        var entry = environ
        while let text = entry.pointee {
            pairs.append(String(cString: text))
            entry += 1
        }
        return pairs
    }
}
