import BrokerValues

/// The remote folder of the forwarded sockets. Its name is random, so it belongs to no other login, and files left by an earlier
/// login do not conflict.
package struct RemoteFolder: Sendable, Equatable {
    package let path: String

    /// - Parameter near: the path of a sandbox's socket here.
    package func socket(for near: String) -> String { path + near[(near.lastIndex(of: "/") ?? near.startIndex)...] }

    /// Makes the folder, prints its path, and removes it at the end of its input. The input ends when this program or ssh is
    /// killed, and when the connection breaks. The folder is not in the home directory; a reboot of that machine clears it.
    ///
    /// The login shell parses only quoted words; `sh` reads the script.
    package static func keeper(_ name: String) -> String {
        let script = """
            umask 077;for d in "$XDG_RUNTIME_DIR" /tmp /var/tmp;do [ "$d" ]||continue;d=$d/brokerctl-$1;\
            mkdir "$d" 2>/dev/null&&break;d=;done;[ "$d" ]||exit 1;trap : HUP INT TERM;\
            echo "\(mark) $1 $d";cat >/dev/null;rm -rf "$d"
            """
        return RemoteProgram.line(["sh", "-c", script, "sh", name])
    }

    private static let mark = "brokerctl-folder"
    /// `sockaddr_un` holds 107 bytes.
    private static let longest = 90

    /// - Parameter output: the output so far. The login shell's startup files may write before it, even without a newline.
    /// - Returns: `nil` while the line is incomplete, and if the path is not valid: the remote output is not trusted.
    package init?(_ name: String, in output: [UInt8]) {
        let text = String(decoding: output, as: UTF8.self)
        guard let start = text.lastRange(ofText: "\(Self.mark) \(name) ")?.upperBound,
            let end = text.utf8[start...].firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        path = String(text[start..<end])
        guard path.hasPrefix("/"), path.hasSuffix("/brokerctl-\(name)"), path.utf8.count <= Self.longest,
            path.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-./_".utf8.contains($0) })
        else { return nil }
    }
}
