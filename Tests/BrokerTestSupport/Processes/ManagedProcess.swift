import Foundation
import Synchronization

/// How a process ended.
package enum ExitStatus: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)
}

/// A program that a test started: its output goes to files, it is ended with all its children, and the reaper
/// knows it in case the test run does not live to do so.
package final class ManagedProcess: Sendable {
    package let name: String
    package let pid: pid_t
    package let output: URL
    package let errors: URL
    private let input: Int32?
    private let life = Mutex(Life())

    private struct Life {
        var status: ExitStatus?
        /// Until it is reaped, no other process can have its process id or its group's.
        var isReaped = false
        var waiting: [CheckedContinuation<ExitStatus, Never>] = []
        var inputOpen = true
    }

    /// Starts it; its two log files have its name.
    package init(_ launch: Launch, name: String, logsIn directory: URL) throws {
        guard let executable = launch.resolvedExecutable else {
            throw ProcessFailure("There is no program \(launch.executable).")
        }
        self.name = name
        output = directory.appending(path: "\(name).out")
        errors = directory.appending(path: "\(name).err")
        let spawned = try Spawn.start(
            [executable] + launch.arguments, environment: launch.environment, output: output.path,
            errors: errors.path, hasInput: launch.hasInput, descriptor: launch.descriptor)
        pid = spawned.pid
        input = spawned.input
        ProcessReaper.shared.processStarted(pid)
        Thread.detachNewThread { [self] in waitForEnd() }
    }

    package var isRunning: Bool { life.withLock { $0.status == nil } }

    package func exitStatus() async -> ExitStatus {
        await withCheckedContinuation { continuation in
            let status = life.withLock { life in
                if life.status == nil { life.waiting.append(continuation) }
                return life.status
            }
            if let status { continuation.resume(returning: status) }
        }
    }

    /// Sends a signal to the process alone; no effect after it has ended.
    package func send(_ signal: Int32) {
        life.withLock { if $0.status == nil { kill(pid, signal) } }
    }

    /// Asks the process to end, and kills its whole group if it has not after some seconds. Surviving children are killed, too.
    ///
    /// For cleanup. A test that judges how a process ends sends a signal and waits for ``exitStatus()``.
    @discardableResult
    package func stop(within seconds: Double = 10) async -> ExitStatus {
        send(SIGTERM)
        let impatience = Task {
            try await Task.sleep(for: .seconds(seconds))
            endGroup()
        }
        let status = await exitStatus()
        impatience.cancel()
        endGroup()
        reap()
        return status
    }

    private func endGroup() {
        life.withLock { if !$0.isReaped { killpg(pid, SIGKILL) } }
    }

    /// Releases the process id, and that of its group: no signal may be sent there from now on, as it may be another test's.
    private func reap() {
        life.withLock { life in
            if life.isReaped { return }
            // While the number cannot be reused.
            ProcessReaper.shared.processEnded(pid)
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
            life.isReaped = true
        }
    }

    /// The waiting thread keeps it until the process has ended.
    deinit { reap() }

    /// Writes to the standard input of a process that was started with `hasInput`.
    package func write(_ text: String) throws {
        guard let input else { throw ProcessFailure("\(name) was started without an input.") }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard written > 0 else { throw ProcessFailure("\(name) no longer reads its input.") }
            bytes = bytes.dropFirst(written)
        }
    }

    package func closeInput() {
        guard let input else { return }
        let first = life.withLock { life in
            defer { life.inputOpen = false }
            return life.inputOpen
        }
        if first { close(input) }
    }

    package var outputText: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }
    package var errorText: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

    /// Waits until the process has written a text on either stream; an earlier end is an error that shows its log.
    package func waitForText(_ text: String, seconds: Double = usualPatience) async throws {
        try await eventually("\(name) writes “\(text)”", seconds: seconds) {
            if self.outputText.contains(text) || self.errorText.contains(text) { return true }
            try self.requireRunning()
            return false
        }
    }

    /// Throws the process's output if it has ended.
    package func requireRunning() throws {
        guard let status = life.withLock({ $0.status }) else { return }
        throw ProcessFailure("\(name) ended (\(status)):\n\(logTail)")
    }

    /// The end of both logs, for the report of a failed test.
    package var logTail: String {
        [("output", outputText), ("errors", errorText)].filter { !$0.1.isEmpty }
            .map { "--- \(name), \($0.0):\n" + $0.1.split(separator: "\n").suffix(30).joined(separator: "\n") }
            .joined(separator: "\n")
    }

    /// It stays a zombie until it is stopped or released.
    private func waitForEnd() {
        var end = siginfo_t()
        while waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        let number = end._sifields._sigchld.si_status
        let status = end.si_code == CLD_EXITED ? ExitStatus.exited(number) : .killed(signal: number)
        let waiting = life.withLock { life in
            life.status = status
            defer { life.waiting = [] }
            return life.waiting
        }
        closeInput()
        for continuation in waiting { continuation.resume(returning: status) }
    }
}
