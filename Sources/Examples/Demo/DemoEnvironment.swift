import Foundation
import Synchronization

/// A folder and the processes of one demonstration; ``clear()`` removes everything.
final class DemoEnvironment: Sendable {
    let folder: String
    var socket: String { folder + "/run/broker.sock" }

    private let programs: String
    private let children = Mutex(Children())
    /// Held during the clean-up; a second caller waits until it is done.
    private let clearing = Mutex(())
    private let signals = Mutex<[any DispatchSourceSignal]>([])

    /// `@unchecked Sendable`: `Process` is only started, signalled and waited for, each under the children's lock or by the
    /// one task that runs the demonstration.
    private struct Child: @unchecked Sendable {
        let name: String
        let process: Process
        /// Kept open: the provider ends together with this process, even after a crash.
        let input: Pipe
    }

    private struct Children: Sendable {
        var children: [Child] = []
        /// If true, no process may start any more.
        var isOver = false
        var isInterrupted = false
    }

    init() throws {
        folder =
            FileManager.default.temporaryDirectory.appendingPathComponent("broker-demo-\(UUID().uuidString.prefix(8))")
            .path
        programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        // Everything is on loopback, which a proxy cannot reach.
        setenv("no_proxy", "127.0.0.1,localhost", 1)
        catchInterrupts()
    }

    func startProvider() throws -> String {
        let output = Pipe()
        try start("broker-dev-idp", ["--stop-with-input"], output: output)
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) {
            line += byte
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == "issuer" else { throw Unexpected("the provider did not start") }
        return String(words[1])
    }

    func startBroker() throws {
        try start(
            "brokerd",
            [
                "--socket", socket, "--state-dir", folder + "/state", "--config", try emptyConfiguration(),
                "--allow-http-loopback",
            ],
            output: nil)
    }

    func brokerctl(_ arguments: String...) throws -> String { try brokerctl(arguments) }

    func brokerctl(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = try program("brokerctl")
        process.arguments = ["--socket", socket] + arguments
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Unexpected("brokerctl \(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }

    /// - Returns: its exit status.
    func stopBroker() throws -> Int32 {
        guard let broker = children.withLock({ $0.children.first { $0.name == "brokerd" } }) else { return -1 }
        broker.process.terminate()
        broker.process.waitUntilExit()
        return broker.process.terminationReason == .exit ? broker.process.terminationStatus : -1
    }

    var brokerLog: String { (try? String(contentsOfFile: folder + "/brokerd.log", encoding: .utf8)) ?? "" }

    /// Ends the running processes, the last started first, and removes the folder.
    func clear() {
        clearing.withLock { _ in
            let rest = children.withLock { children in
                children.isOver = true
                defer { children.children = [] }
                return children.children
            }
            for child in rest.reversed() where child.process.isRunning {
                child.process.terminate()
                child.process.waitUntilExit()
            }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    /// Whether a signal is ending the demonstration, which explains any later failure.
    var isInterrupted: Bool { children.withLock { $0.isInterrupted } }

    private func start(_ name: String, _ arguments: [String], output: Pipe?) throws {
        let log = folder + "/\(name).log"
        try Data().write(to: URL(fileURLWithPath: log))
        let process = Process()
        let input = Pipe()
        process.executableURL = try program(name)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: log)
        try children.withLock { children in
            guard !children.isOver else { throw Unexpected("the demonstration is over") }
            try process.run()
            children.children.append(Child(name: name, process: process, input: input))
        }
    }

    private func program(_ name: String) throws -> URL {
        let path = programs + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw Unexpected("\(name) is not in \(programs); build it first, as make demo does")
        }
        return URL(fileURLWithPath: path)
    }

    /// The person's own configuration must not affect a demonstration.
    private func emptyConfiguration() throws -> String {
        let path = folder + "/config.toml"
        try Data().write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return path
    }

    private func catchInterrupts() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            signals.withLock { signals in
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { [self] in
                    children.withLock { $0.isInterrupted = true }
                    clear()
                    exit(128 + number)
                }
                source.resume()
                signals.append(source)
            }
        }
    }
}
