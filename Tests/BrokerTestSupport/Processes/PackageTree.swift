import Foundation

/// Where the package's sources and the programs built with the tests are.
package enum PackageTree {
    /// The directory of Package.swift.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// A file of Tests/BrokerTestSupport/Fixtures.
    package static func fixture(_ name: String) -> String {
        root.appending(path: "Tests/BrokerTestSupport/Fixtures/\(name)").path
    }

    /// A program of this package, as built beside the running test program.
    package static func program(_ name: String) throws -> String {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appending(path: name).path
        guard access(program, X_OK) == 0 else {
            throw ProcessFailure("\(program) is not there: build it with `swift build`.")
        }
        return program
    }
}
