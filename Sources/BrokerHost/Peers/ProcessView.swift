import CBrokerLinux

/// Where a process stands among mounts and namespaces, by files of /proc that need no right to ptrace it: they are
/// readable for every process, however it hides.
struct ProcessView: Sendable, Equatable {
    /// The id of the mount at its root: one mount has one id, and belongs to one namespace.
    var rootMount: UInt64
    /// As `uid_map` has it (user_namespaces(7)).
    var userMap: String
    /// Nested pid namespaces, from ours on.
    var pidDepth: Int

    init?(of pid: Int32) {
        guard let process = ProcessFolder.open(pid: pid) else { return nil }
        self.init(of: process)
    }

    /// - Returns: nil when one of the three cannot be read.
    init?(of process: borrowing ProcessFolder) {
        guard case .value(let root?) = Self.rootMount(of: process),
            case .value(let userMap) = Self.userMap(of: process), case .value(let depth) = Self.pidDepth(of: process)
        else { return nil }
        (rootMount, self.userMap, pidDepth) = (root, userMap, depth)
    }

    /// Some hundred mounts. Others wait while it is read.
    private static let longest = 64 << 10

    /// - Returns: the mount's id; a value of nil when nothing is mounted at the process's root, as after chroot(2).
    static func rootMount(of process: borrowing ProcessFolder) -> ProcessReading<UInt64?> {
        var root = broker_root()
        if broker_describe_root(process.descriptor, &root) == 0 { return .value(root.is_mount ? root.mount : nil) }
        return listedRootMount(of: process)
    }

    /// The same from the list of its mounts, which everybody may read. It takes many times as long: the kernel writes the
    /// records of others, too.
    static func listedRootMount(of process: borrowing ProcessFolder) -> ProcessReading<UInt64?> {
        // The root's record stands first as a rule, and seldom far behind.
        let early = process.read("mountinfo", limit: 2048) { .value(rootMount(in: $0)) }
        guard case .value(nil) = early else { return early }
        return process.read("mountinfo", limit: longest) { bytes in
            let root = rootMount(in: bytes)
            // Of a list that is longer than anybody's, the rest is not waited for: it proves nothing.
            return root != nil || bytes.count < longest ? .value(root) : .gone
        }
    }

    /// proc_pid_mountinfo(5): `ID PARENT MAJOR:MINOR ROOT MOUNT-POINT …`, one record a line.
    static func rootMount(in mountinfo: UnsafeRawBufferPointer) -> UInt64? {
        for line in mountinfo.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count == 6, fields[4].elementsEqual([UInt8(ascii: "/")]) else { continue }
            return UInt64(String(decoding: fields[0], as: UTF8.self))
        }
        return nil
    }

    static func userMap(of process: borrowing ProcessFolder) -> ProcessReading<String> {
        process.text("uid_map", limit: 4096)
    }

    static func pidDepth(of process: borrowing ProcessFolder) -> ProcessReading<Int> {
        process.read("status", limit: 4096) { bytes in
            for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "NSpid:".utf8) {
                return .value(line.split(separator: UInt8(ascii: "\t")).count - 1)
            }
            return .gone
        }
    }
}
