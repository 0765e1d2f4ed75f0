import Glibc

/// A mark by which a later run knows a file that it may replace, where the file itself can hold nothing but the token: the
/// nanoseconds of its modification time come from its content. No file of somebody else's has them but by one chance in a billion,
/// and one that was changed or copied has other ones.
///
/// Where a file system keeps no nanoseconds, a file that a run left behind has to be removed by hand.
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
