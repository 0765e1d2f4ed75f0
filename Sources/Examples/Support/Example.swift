import Foundation

/// The frame of a sample app: parses options, returns an exit status.
package enum Example {
    /// Runs the app and ends the process: 0 for success, 1 for failure, 2 for wrong options.
    ///
    /// - Parameters:
    ///   - scopes: the default scopes.
    ///   - app: the app's work.
    package static func run(scopes: [String], _ app: @Sendable (ExampleOptions) async throws -> Void) async -> Never {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try await app(
                ExampleOptions(arguments, scopes: scopes, environment: ProcessInfo.processInfo.environment))
            exit(0)
        } catch let error as ExampleOptions.Misused {
            report(error)
            exit(2)
        } catch {
            report(error)
            exit(1)
        }
    }

    private static func report(_ error: any Error) {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
    }
}
