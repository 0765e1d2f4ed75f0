import Foundation

/// The frame of a sample app: options in, exit status out.
package enum Example {
    /// Runs the app and ends the process: 0 when it is done, 1 when it failed, 2 for wrong options.
    ///
    /// - Parameters:
    ///   - scopes: what the app asks for when it is not told.
    ///   - app: what it does.
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
