import BrokerValues

/// A folder on the far side that the sockets are forwarded to. Its name is chance: it is nobody else's, and nothing that an earlier
/// login left is in its way.
package struct RemoteFolder: Sendable, Equatable {
    package let path: String

    /// - Parameter near: the path of a sandbox's socket here.
    package func socket(for near: String) -> String { path + near[(near.lastIndex(of: "/") ?? near.startIndex)...] }

    /// Makes the folder, says where it is, and removes it at the end of its input. The input ends when this program or ssh is
    /// killed, and when the connection is cut. The folder is not in the home directory; a start of that machine clears its place.
    ///
    /// The login shell has nothing to read here but words; `sh` reads the rest.
    package static func keeper(_ name: String) -> String {
        let script = """
            umask 077;for d in "$XDG_RUNTIME_DIR" /tmp /var/tmp;do [ "$d" ]||continue;d=$d/brokerctl-$1;\
            mkdir "$d" 2>/dev/null&&break;d=;done;[ "$d" ]||exit 1;trap : HUP INT TERM;\
            echo "\(mark) $1 $d";cat >/dev/null;rm -rf "$d"
            """
        return RemoteProgram.line(["sh", "-c", script, "sh", name])
    }

    private static let mark = "brokerctl-folder"
    /// `sockaddr_un` takes 107 bytes.
    private static let longest = 90

    /// - Parameter output: what came so far. The login shell's own files may write something before, without a line's end, too.
    /// - Returns: nil while the line is not whole, and where it names no folder of ours: that side says what it likes.
    package init?(_ name: String, in output: [UInt8]) {
        let text = String(decoding: output, as: UTF8.self)
        guard let start = text.lastRange(ofText: "\(Self.mark) \(name) ")?.upperBound,
            let end = text.utf8[start...].firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        path = String(text[start..<end])
        guard path.hasPrefix("/"), path.hasSuffix("/brokerctl-\(name)"), path.utf8.count <= Self.longest,
            path.utf8.allSatisfy(Self.isPlain)
        else { return nil }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
