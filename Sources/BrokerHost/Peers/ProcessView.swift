import CBrokerLinux

/// The mounts and namespaces of a process, from files of /proc that need no right to ptrace it: they are readable for every
/// process, however it hides.
struct ProcessView: Sendable, Equatable {
    /// The id of the mount at its root: a mount has one id, and belongs to one namespace.
    var rootMount: UInt64
    /// The contents of `uid_map`, `gid_map` and `projid_map` (user_namespaces(7)). A namespace made for a sandbox maps users and
    /// groups, which may be all of them, and no projects.
    var userMap: String
    /// The number of nested pid namespaces, from the broker's on.
    var pidDepth: Int
    /// A number that no other network namespace has while it lives; `nil` if the kernel shows none.
    var network: UInt64?

    init?(of pid: Int32) {
        guard let process = ProcessFolder.open(pid: pid) else { return nil }
        self.init(of: process)
    }

    /// - Returns: `nil` if one of the three cannot be read.
    init?(of process: borrowing ProcessFolder) {
        guard case .value(let root?) = Self.rootMount(of: process),
            case .value(let userMap) = Self.userMap(of: process), case .value(let depth) = Self.pidDepth(of: process)
        else { return nil }
        (rootMount, self.userMap, pidDepth) = (root, userMap, depth)
        network = Self.network(of: process)
    }

    /// The bytes of the list of mounts that are read: some hundred mounts. Other inspections wait during the read.
    private static let longest = 64 << 10

    /// - Returns: the mount's id; a value of nil if nothing is mounted at the process's root, as after chroot(2).
    static func rootMount(of process: borrowing ProcessFolder) -> ProcessReading<UInt64?> {
        describedRootMount(of: process).map { .value($0) } ?? listedRootMount(of: process)
    }

    /// The root's mount by one system call; `nil` if the kernel refuses it, and a value of `nil` as in ``rootMount(of:)``.
    static func describedRootMount(of process: borrowing ProcessFolder) -> UInt64?? {
        var root = broker_root()
        guard broker_describe_root(process.descriptor, &root) == 0 else { return nil }
        return .some(root.is_mount ? root.mount : nil)
    }

    /// The root's mount from the list of the process's mounts, which every process may read. It takes many times as long, because
    /// the kernel also writes the other records.
    static func listedRootMount(of process: borrowing ProcessFolder) -> ProcessReading<UInt64?> {
        // The root's record is usually the first, and seldom far behind.
        let early = process.read("mountinfo", limit: 2048) { .value(rootMount(in: $0)) }
        guard case .value(nil) = early else { return early }
        return process.read("mountinfo", limit: longest) { bytes in
            let root = rootMount(in: bytes)
            // A list longer than any real one is not read to its end: it proves nothing.
            return root != nil || bytes.count < longest ? .value(root) : .gone
        }
    }

    /// The id of the mount at `/` (proc_pid_mountinfo(5): `ID PARENT MAJOR:MINOR ROOT MOUNT-POINT …`, one record a line).
    static func rootMount(in mountinfo: UnsafeRawBufferPointer) -> UInt64? {
        for line in mountinfo.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard fields.count == 6, fields[4].elementsEqual([UInt8(ascii: "/")]) else { continue }
            return UInt64(String(decoding: fields[0], as: UTF8.self))
        }
        return nil
    }

    static func userMap(of process: borrowing ProcessFolder) -> ProcessReading<String> {
        var maps = ""
        for name in ["uid_map", "gid_map", "projid_map"] {
            // A map that was not written yet is empty.
            switch process.read(name, limit: 4096, { .value(String(decoding: $0, as: UTF8.self)) }) {
            case .value(let map): maps += "\(name)\n\(map)"
            case .denied: return .denied
            case .gone: return .gone
            }
        }
        return .value(maps)
    }

    /// The bytes of `status` that are read: a process may be in as many groups as Linux allows (65,536, setgroups(2)), and they
    /// precede the wanted line.
    private static let longestStatus = 1 << 20

    static func pidDepth(of process: borrowing ProcessFolder) -> ProcessReading<Int> {
        let early = process.read("status", limit: 4096) { .value(pidDepth(in: $0)) }
        let whole =
            if case .value(nil) = early {
                process.read("status", limit: longestStatus) { .value(pidDepth(in: $0)) }
            } else { early }
        return switch whole {
        case .value(let depth?): .value(depth)
        case .denied: .denied
        case .value(nil), .gone: .gone
        }
    }

    /// The depth in the line `NSpid`; `nil` if the line is missing or incomplete.
    private static func pidDepth(in status: UnsafeRawBufferPointer) -> Int? {
        let key = "NSpid:".utf8
        guard let end = status.lastIndex(of: UInt8(ascii: "\n")) else { return nil }
        return status[..<end].split(separator: UInt8(ascii: "\n")).first { $0.starts(with: key) }
            .map { $0.split(separator: UInt8(ascii: "\t")).count - 1 }
    }

    /// The number of a file that is unique to each network namespace, and visible for every process, unlike `ns/net`.
    static func network(of process: borrowing ProcessFolder) -> UInt64? {
        var file = broker_file()
        return broker_describe(process.descriptor, "net/dev", &file) == 0 ? file.inode : nil
    }
}
