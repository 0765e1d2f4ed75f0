import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The ssh that has the folder made there, and removed when its input ends. It shares the terminal, to ask for passwords.
struct FolderKeeper {
    private let pid: pid_t
    /// Its input and its output. The kernel closes this end whenever this program ends.
    private let descriptor: Int32

    init(_ words: [String]) throws(BrokerClientError) {
        guard let ends = ChildProcess.connection() else {
            throw BrokerClientError(.internal, "ssh cannot be started: \(errnoText(errno)).")
        }
        defer { close(ends[1]) }
        do throws(BrokerClientError) {
            pid = try ForegroundProcess.start(
                words, streams: [0: .descriptor(ends[1]), 1: .descriptor(ends[1])])
        } catch {
            close(ends[0])
            throw error
        }
        descriptor = ends[0]
    }

    /// Waits for the folder, for as long as a person takes to log in.
    ///
    /// - Returns: nil when there will be none: it ended, a signal came, or it names no folder of ours.
    func folder(_ name: String) -> RemoteFolder? {
        var output: [UInt8] = []
        while !ForegroundProcess.isAskedToEnd, output.count < Self.most {
            guard waits(milliseconds: 500) else { continue }
            guard let more = read() else { return nil }
            output += more
            if let folder = RemoteFolder(name, in: output) { return folder }
        }
        return nil
    }

    /// Lets it remove the folder, and ends it where that takes too long: behind a network that is gone, nobody answers.
    ///
    /// - Returns: its exit status, 128 and the number for a signal.
    func end() -> Int32 {
        shutdown(descriptor, Int32(SHUT_WR))
        defer { close(descriptor) }
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, !ForegroundProcess.isAskedToEnd {
            if let status = exitStatusNow(of: pid) { return status }
            // What it still writes must not hold it up.
            if waits(milliseconds: 20), read() == nil { usleep(10_000) }
        }
        kill(pid, SIGTERM)
        let status = exitStatus(of: pid)
        return ForegroundProcess.statusOfSignal ?? status
    }

    private static let patience = Duration.seconds(5)
    /// More than any login shell's files write.
    private static let most = 256 << 10

    /// - Returns: whether there is something to read, or an end.
    private func waits(milliseconds: Int32) -> Bool {
        var facts = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&facts, 1, milliseconds) > 0
    }

    /// - Returns: nil at the end.
    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer.prefix(count)) : count < 0 && errno == EINTR ? [] : nil
    }
}
