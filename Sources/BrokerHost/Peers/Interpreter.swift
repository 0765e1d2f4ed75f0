/// Loaders, interpreters and debuggers: their file is root's, and what it does is anybody's.
package enum Interpreter {
    /// By the last part of the path, so a hint only.
    package static func isNamed(by path: String) -> Bool {
        let path = path.utf8
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path[...]
        let word = name.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "-") }
        let endOfWords = name.lastIndex { !isOfVersion($0) }.map(name.index(after:)) ?? name.startIndex
        let unversioned = name[..<endOfWords]
        return withVariants.contains { word.elementsEqual($0.utf8) }
            || withVersions.contains { unversioned.elementsEqual($0.utf8) }
            || loaders.contains { name.starts(with: $0.utf8) }
    }

    private static func isOfVersion(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    /// Also with anything after a dot or a dash.
    private static let withVariants = [
        "bash", "busybox", "dash", "dotnet", "env", "expect", "fish", "gdb", "java", "ksh", "lldb", "mono", "nodejs",
        "nohup", "sh", "socat", "strace", "tclsh", "wish", "xargs", "zsh",
    ]
    private static let withVersions = ["lua", "node", "perl", "php", "pypy", "python", "ruby"]
    /// With anything after them.
    private static let loaders = ["ld-linux", "ld.so", "ld-musl"]
}
