import Glibc

/// The mounts that this process sees and whose file systems answer by themselves: no server of anybody's, which could let
/// the broker wait for ever, stands behind them.
struct LocalMounts {
    private let ids: Set<UInt64>

    static func read() -> LocalMounts {
        guard let own = ProcessFolder.open(pid: getpid()) else { return LocalMounts(mountinfo: "") }
        return LocalMounts(mountinfo: own.text("mountinfo", limit: 1 << 20).value ?? "")
    }

    /// - Parameter mountinfo: proc_pid_mountinfo(5).
    init(mountinfo: String) {
        var ids: Set<UInt64> = []
        for line in mountinfo.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard let first = words.first, let id = UInt64(String(Substring(first))),
                let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash + 1 < words.count,
                Self.types.contains(String(Substring(words[dash + 1])))
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
