import Foundation

/// The location of the package's sources and of the programs built with the tests.
package enum PackageTree {
    /// The directory of Package.swift.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The content of a file of the package.
    package static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// A file of Tests/BrokerTestSupport/Fixtures.
    package static func fixture(_ name: String) -> String {
        root.appending(path: "Tests/BrokerTestSupport/Fixtures/\(name)").path
    }

    /// The names of the fixtures that match, in order.
    package static func fixtures(like name: Regex<Substring>) -> [String] {
        let folder = root.appending(path: "Tests/BrokerTestSupport/Fixtures").path
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.wholeMatch(of: name) != nil }.sorted()
    }

    /// A program of this package: from the folder `BROKER_TEST_PROGRAMS` if that has it, otherwise from the folder of the running
    /// test program. `.ci/test` starts the released programs that way.
    package static func program(_ name: String) throws -> String {
        if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_PROGRAMS"],
            access("\(folder)/\(name)", X_OK) == 0
        {
            return "\(folder)/\(name)"
        }
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let program = tests.deletingLastPathComponent().appending(path: name).path
        guard access(program, X_OK) == 0 else {
            throw ProcessFailure("\(program) is not there: build it with `swift build`.")
        }
        return program
    }
}

extension TestBed {
    /// A copy of a program of this package that every user can start: the checkout may be in a home that is closed to others.
    /// The bed's directory is open to them from now on.
    package func sharedProgram(_ name: String) throws -> String {
        guard chmod(directory.path, 0o755) == 0 else { throw ProcessFailure("chmod \(directory.path): errno \(errno)") }
        let copy = path("shared-\(name)")
        if !FileManager.default.fileExists(atPath: copy) {
            try FileManager.default.copyItem(atPath: try PackageTree.program(name), toPath: copy)
            _ = chmod(copy, 0o755)
        }
        return copy
    }
}
