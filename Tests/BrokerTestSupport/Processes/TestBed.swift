import Foundation
import Synchronization

/// The environment of one test: a directory, processes. It is torn down in reverse order, whether the test
/// succeeded or not.
///
/// With `BROKER_TEST_KEEP=1` in the environment the directory with all logs remains, and its path is printed.
package final class TestBed: Sendable {
    /// Its path is short enough for sockets, and has no spaces.
    package let directory: URL
    private let state = Mutex(State())

    private struct State {
        var processes: [ManagedProcess] = []
        var endings: [@Sendable () async -> Void] = []
        var names: [String: Int] = [:]
    }

    fileprivate init() throws {
        var template = Array("/tmp/broker-test-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw ProcessFailure("mkdtemp: errno \(errno)") }
        directory = URL(filePath: String(cString: path), directoryHint: .isDirectory)
        ProcessReaper.shared.directoryMade(directory.path)
    }

    /// A path in the directory; nothing is created there.
    package func path(_ name: String) -> String { directory.appending(path: name).path }

    /// A new subdirectory that no other user may enter.
    package func makeDirectory(_ name: String) throws -> String {
        let path = path(unique(name))
        guard mkdir(path, 0o700) == 0 else { throw ProcessFailure("mkdir \(path): errno \(errno)") }
        return path
    }

    /// The name, with a number from its second use on.
    package func unique(_ name: String) -> String {
        let count = state.withLock { state in
            state.names[name, default: 0] += 1
            return state.names[name, default: 1]
        }
        return count == 1 ? name : "\(name)-\(count)"
    }

    /// Starts a program that runs until the end of the test, or until `stop()`.
    package func start(_ launch: Launch, as name: String? = nil) throws -> ManagedProcess {
        let given = name ?? URL(filePath: launch.executable).lastPathComponent
        let process = try ManagedProcess(launch, name: unique(given), logsIn: directory)
        state.withLock { $0.processes.append(process) }
        atEnd { await process.stop() }
        return process
    }

    /// Registers an action for the end, before everything that was set up earlier.
    package func atEnd(_ ending: @escaping @Sendable () async -> Void) {
        state.withLock { $0.endings.append(ending) }
    }

    fileprivate func takeDown(failed: Bool) async {
        // The actions may hold the bed.
        let (processes, endings) = state.withLock { state in
            defer { state.endings = [] }
            return (state.processes, state.endings)
        }
        for ending in endings.reversed() { await ending() }
        if failed {
            let logs = processes.map(\.logTail).filter { !$0.isEmpty }.joined(separator: "\n")
            FileHandle.standardError.write(Data("\(logs)\n".utf8))
        }
        if ProcessInfo.processInfo.environment["BROKER_TEST_KEEP"] == "1" {
            FileHandle.standardError.write(Data("Kept: \(directory.path)\n".utf8))
        } else {
            try? FileManager.default.removeItem(at: directory)
        }
        ProcessReaper.shared.directoryRemoved(directory.path)
    }
}

/// Runs a test's body in a separate test bed.
package func withTestBed<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TestBed) async throws -> Result
) async throws -> Result {
    let bed = try TestBed()
    do {
        let result = try await body(bed)
        await bed.takeDown(failed: false)
        return result
    } catch {
        await bed.takeDown(failed: true)
        throw error
    }
}
