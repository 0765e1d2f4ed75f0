import Glibc

/// The mounts that a process sees whose file systems answer by themselves: without a user's server behind them that could block
/// the broker for ever.
struct LocalMounts {
    private let ids: Set<UInt64>

    /// The broker's own mounts. Only root can remove one.
    static func own() -> LocalMounts {
        guard let own = ProcessFolder.open(pid: getpid()) else { return LocalMounts(mountinfo: "", types: []) }
        return LocalMounts(of: own, types: types, limit: 1 << 20)
    }

    /// The mounts of a process that may have created mounts: anything but memory could lead to a server again, such as the lower
    /// layer of an overlay.
    static func inMemory(of process: borrowing ProcessFolder) -> LocalMounts {
        LocalMounts(of: process, types: ["tmpfs"], limit: 1 << 17)
    }

    /// - Parameter limit: bytes of the list to read.
    private init(of process: borrowing ProcessFolder, types: Set<String>, limit: Int) {
        self.init(mountinfo: process.text("mountinfo", limit: limit).value ?? "", types: types)
    }

    /// - Parameter mountinfo: proc_pid_mountinfo(5).
    private init(mountinfo: String, types: Set<String>) {
        var ids: Set<UInt64> = []
        for line in mountinfo.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard let first = words.first, let id = UInt64(String(Substring(first))),
                let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 1 < words.count,
                types.contains(String(Substring(words[dash + 1])))
            else { continue }
            ids.insert(id)
        }
        self.ids = ids
    }

    func contains(_ mount: UInt64) -> Bool { ids.contains(mount) }

    private static let types: Set<String> = [
        "bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "rootfs", "squashfs", "tmpfs",
        "xfs", "zfs",
    ]
}
