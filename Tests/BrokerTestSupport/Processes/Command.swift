import Foundation

/// The result of a program that ran to its end.
package struct CommandResult: Sendable, CustomStringConvertible {
    package var status: ExitStatus
    package var outputData: Data
    package var errors: String

    package var output: String { String(decoding: outputData, as: UTF8.self) }
    package var succeeded: Bool { status == .exited(0) }
    package var description: String { "\(status)\n\(output)\(errors)" }
}

extension TestBed {
    /// Runs a program to its end.
    package func run(_ launch: Launch, input: String? = nil) async throws -> CommandResult {
        var launch = launch
        launch.hasInput = input != nil
        let logs = URL(filePath: try makeDirectory("run"), directoryHint: .isDirectory)
        let process = try ManagedProcess(launch, name: "command", logsIn: logs)
        if let input {
            // A program that ends without reading reports the reason in its status.
            try? process.write(input)
            process.closeInput()
        }
        let status = await withTaskCancellationHandler {
            await process.exitStatus()
        } onCancel: {
            process.send(SIGKILL)
        }
        let result = CommandResult(
            status: status, outputData: (try? Data(contentsOf: process.output)) ?? Data(), errors: process.errorText)
        try? FileManager.default.removeItem(at: logs)
        return result
    }

    /// Runs a program that must succeed, and returns its output.
    @discardableResult
    package func require(_ executable: String, _ arguments: [String]) async throws -> String {
        let result = try await run(Launch(executable, arguments))
        guard result.succeeded else {
            throw ProcessFailure("\(executable) \(arguments.joined(separator: " ")): \(result)")
        }
        return result.output
    }
}
