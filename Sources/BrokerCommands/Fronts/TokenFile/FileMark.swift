import Glibc

/// A mark by which a later run recognizes a file that it may replace, although the file can hold only the token: the
/// nanoseconds of its modification time derive from its content. A foreign file matches with a chance of one in a billion,
/// and a changed or copied file does not match.
///
/// If a file system stores no nanoseconds, a file left by an earlier run must be removed by hand.
struct FileMark {
    private let nanoseconds: Int

    /// FNV-1a.
    init(of content: some Sequence<UInt8>) {
        let hash = content.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        nanoseconds = 1 + Int(hash % 999_999_999)
    }

    func set(on file: Int32) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, timespec(tv_sec: now.tv_sec, tv_nsec: nanoseconds)]
        return futimens(file, times) == 0
    }

    func isSet(in facts: stat) -> Bool { facts.st_mtim.tv_nsec == nanoseconds }
}
