import Foundation
import Synchronization

/// A small process next to the test run that ends the run's processes, and removes its directories, if the run
/// itself cannot (`Fixtures/process-reaper`). It notices our end when its standard input closes.
final class ProcessReaper: Sendable {
    static let shared = ProcessReaper()

    private let input: Mutex<Int32?>

    private init() {
        let child = try? Spawn.start(
            [PackageTree.fixture("process-reaper")], environment: Launch.cleanEnvironment,
            output: "/dev/null", errors: "/dev/null", hasInput: true)
        input = Mutex(child?.input)
    }

    func processStarted(_ pid: pid_t) { tell("process \(pid)") }
    func processEnded(_ pid: pid_t) { tell("ended \(pid)") }
    func directoryMade(_ path: String) { tell("directory \(path)") }
    func directoryRemoved(_ path: String) { tell("removed \(path)") }

    private func tell(_ event: String) {
        let line = Array("\(event)\n".utf8)
        input.withLock { input in
            guard let input else { return }
            // Short lines into a socket that is always read: never split in practice, and nothing depends on it.
            _ = line.withUnsafeBytes { send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
    }
}
