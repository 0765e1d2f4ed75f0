/// Loaders, interpreters and debuggers: root owns their file, but any user's code decides their actions.
package enum Interpreter {
    /// Whether the last part of the path is the name of an interpreter, with or without a version, a variant after a dash, or
    /// anything after a dot. It is only a hint: a program with a similar name also counts, and is trusted less for it.
    package static func isNamed(by path: String) -> Bool {
        let path = path.utf8
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path[...]
        let stem = name.prefix { $0 != UInt8(ascii: "-") }
        let words = [withoutVersion(stem), withoutVersion(stem.prefix { $0 != UInt8(ascii: ".") })]
        return names.contains { known in words.contains { $0.elementsEqual(known.utf8) } }
            || loaders.contains { name.starts(with: $0.utf8) }
    }

    private static func withoutVersion(_ name: Substring.UTF8View) -> Substring.UTF8View {
        let end = name.lastIndex { $0 != UInt8(ascii: ".") && !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
        return name[..<(end.map(name.index(after:)) ?? name.startIndex)]
    }

    private static let names = [
        "bash", "busybox", "dash", "dotnet", "env", "expect", "fish", "gdb", "java", "ksh", "lldb", "lua", "mono",
        "node",
        "nodejs", "nohup", "perl", "php", "pypy", "python", "ruby", "sh", "socat", "strace", "tclsh", "wish", "xargs",
        "zsh",
    ]
    /// The beginnings of the names of loaders.
    private static let loaders = ["ld-linux", "ld.so", "ld-musl"]
}
