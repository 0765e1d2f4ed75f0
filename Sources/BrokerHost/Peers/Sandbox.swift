import Glibc

/// The application id that a sandbox vouches for.
package enum Sandbox {
    /// A Flatpak application id, or `snap.NAME.APP`.
    ///
    /// - Parameter label: of the peer's connection (SO_PEERSEC). A snap's name comes from its AppArmor profile, which
    ///   the kernel enforces; its cgroup is named alike, but every process of the user can have a scope of any name.
    static func id(of process: borrowing ProcessFolder, label: String?) -> String? {
        label.flatMap(snapID(label:)) ?? flatpakID(of: process)
    }

    /// - Parameter label: `snap.NAME.APP (enforce)`; a profile that only complains confines nothing.
    package static func snapID(label: String) -> String? {
        let words = label.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[1] == "(enforce)", words[0].hasPrefix("snap.") else { return nil }
        return words[0].split(separator: ".").count >= 3 ? String(words[0]) : nil
    }

    /// Flatpak puts `/.flatpak-info` into the root of its sandboxes, as a mount of its own that the application cannot
    /// replace. Nothing below the root of a peer is opened unless the kernel's list of mounts has it there on a tmpfs:
    /// a process with a root of its own making could put a file system of its own there and let us wait for ever.
    private static func flatpakID(of process: borrowing ProcessFolder) -> String? {
        guard let theirs = process.link("ns/mnt"), theirs != ownMountNamespace(),
            let mounts = process.read("mountinfo", limit: 1 << 20), hasFlatpakMount(mounts)
        else { return nil }
        return process.read("root/.flatpak-info", limit: 1 << 16).flatMap(flatpakID(info:))
    }

    /// - Parameter mountinfo: proc_pid_mountinfo(5).
    package static func hasFlatpakMount(_ mountinfo: String) -> Bool {
        mountinfo.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            guard words.count > 6, words[4] == "/.flatpak-info", let dash = words.firstIndex(of: "-") else {
                return false
            }
            return dash + 1 < words.count && words[dash + 1] == "tmpfs"
        }
    }

    /// - Parameter info: flatpak-metadata(5); `name` of the group `Application`, absent for a runtime.
    package static func flatpakID(info: String) -> String? {
        var group = ""
        for line in info.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                group = String(line)
            } else if group == "[Application]", line.hasPrefix("name=") {
                let name = line.dropFirst("name=".count)
                return isApplicationID(name) ? String(name) : nil
            }
        }
        return nil
    }

    /// Reverse-DNS: two dots or more, of letters, digits, `_` and `-`.
    private static func isApplicationID(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 255 && parts.count >= 3
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0 == 0x2d || $0 == 0x5f || isAlphanumeric($0) }
            }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }

    private static func ownMountNamespace() -> String? {
        guard let own = ProcessFolder.open(pid: getpid()) else { return nil }
        return own.link("ns/mnt")
    }
}
