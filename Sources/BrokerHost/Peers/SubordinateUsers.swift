import BrokerSystem
import Glibc
import Synchronization

/// The owners of subordinate uids (subuid(5)): a user with a range has as many uids as it is long.
///
/// Only the files are read: a name service may never answer.
package final class SubordinateUsers: Sendable {
    /// The most bytes of each file; a longer one counts as empty.
    private static let limit = 1 << 20

    private struct State {
        var subordinates = FileStamp?.none
        var accounts = FileStamp?.none
        var ranges = SubordinateRanges()
    }

    private let subordinates: String
    private let accounts: String
    private let state = Mutex(State())

    package init(subordinates: String = "/etc/subuid", accounts: String = "/etc/passwd") {
        (self.subordinates, self.accounts) = (subordinates, accounts)
    }

    /// - Returns: the owner, or the uid itself if it is not subordinate.
    package func owner(of uid: UInt32) -> UInt32 {
        let (first, second) = (FileStamp(of: subordinates), FileStamp(of: accounts))
        return state.withLock { state in
            if state.subordinates != first || state.accounts != second {
                (state.subordinates, state.accounts) = (first, second)
                state.ranges = SubordinateRanges(subordinates: read(subordinates), accounts: read(accounts))
            }
            return state.ranges.owner(of: uid) ?? uid
        }
    }

    private func read(_ path: String) -> [UInt8] {
        (try? readFile(at: path, atMost: Self.limit, isTrusted: true)) ?? []
    }
}

/// Changes when a file is written or replaced.
private struct FileStamp: Equatable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Creates the stamp of a file; `nil` if there is no such file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}

/// The ranges of subuid(5), with the uids of their owners. Pure.
struct SubordinateRanges: Sendable {
    private struct Range {
        let first: UInt32
        let last: UInt32
        let owner: UInt32
    }

    /// The number of ranges that are read at most.
    private static let most = 1 << 14

    /// The ranges, ordered by their first uid.
    private var ranges: [Range] = []

    init() {}

    /// - Parameters:
    ///   - subordinates: lines of `NAME-OR-UID:FIRST:COUNT`; other lines are skipped.
    ///   - accounts: passwd(5). A name that it lacks, such as one of a directory service, stands for the first uid of its first range.
    init(subordinates: [UInt8], accounts: [UInt8]) {
        var uids: [String: UInt32] = [:]
        for fields in Self.lines(of: accounts) where fields.count >= 3 {
            guard let uid = UInt32(fields[2]), uids[fields[0]] == nil else { continue }
            uids[fields[0]] = uid
        }
        for fields in Self.lines(of: subordinates).prefix(Self.most) where fields.count == 3 {
            guard let first = UInt32(fields[1]), let count = UInt32(fields[2]), count > 0 else { continue }
            let owner = uids[fields[0]] ?? UInt32(fields[0]) ?? first
            uids[fields[0]] = owner
            ranges.append(Range(first: first, last: first + min(count - 1, .max - first), owner: owner))
        }
        ranges.sort { $0.first < $1.first }
    }

    private static func lines(of file: [UInt8]) -> [[String]] {
        file.split(separator: UInt8(ascii: "\n")).map { line in
            line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    func owner(of uid: UInt32) -> UInt32? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].first <= uid { low = middle + 1 } else { high = middle }
        }
        guard low > 0, uid <= ranges[low - 1].last else { return nil }
        return ranges[low - 1].owner
    }
}
