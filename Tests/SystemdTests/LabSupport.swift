import BrokerTestSupport
import Foundation
import Testing

/// Whether this machine can boot a systemd in namespaces.
enum LabSupport {
    /// One sentence about what is missing; `nil` if nothing is.
    static let missing: String? = {
        let process = Process()
        process.executableURL = URL(filePath: SystemdLab.script)
        process.arguments = ["supported"]
        let errors = Pipe()
        process.standardError = errors
        do { try process.run() } catch { return "\(SystemdLab.script) cannot be run: \(error)" }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : text.trimmingCharacters(in: .whitespacesAndNewlines)
    }()

    /// In continuous integration always, so that a missing part is a failure there and not skipped.
    static var shouldRun: Bool { missing == nil || ProcessInfo.processInfo.environment["CI"] == "true" }
}

extension Trait where Self == ConditionTrait {
    /// The suite boots a systemd.
    static var needsLab: Self {
        .enabled(if: LabSupport.shouldRun, Comment(rawValue: LabSupport.missing ?? "a systemd can be booted here"))
    }
}
