import Foundation

/// A program to start: arguments unchanged (no shell), and an environment with only the given variables.
package struct Launch: Sendable {
    package var executable: String
    package var arguments: [String]
    package var environment: [String: String]
    /// Whether the test writes to the program's standard input; otherwise it is empty.
    package var hasInput: Bool
    /// The program's descriptor 3; no other is inherited.
    var descriptor: Int32?

    /// The executable is a path, or a name that is looked up in `PATH`; the environment is added to
    /// ``cleanEnvironment``.
    package init(
        _ executable: String, _ arguments: [String], environment: [String: String] = [:], hasInput: Bool = false
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = Self.cleanEnvironment.merging(environment) { $1 }
        self.hasInput = hasInput
    }

    /// Little is inherited, so that a proxy, a certificate bundle or a broker of the user who runs the tests does
    /// not affect the tested program.
    package static let cleanEnvironment: [String: String] = {
        let inherited = [
            "PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "TSAN_OPTIONS", "ASAN_OPTIONS",
            "LSAN_OPTIONS",
        ]
        var environment = ["LANG": "C.UTF-8"]
        for name in inherited { environment[name] = ProcessInfo.processInfo.environment[name] }
        return environment
    }()

    /// The executable's absolute path, `nil` if there is no such program.
    package var resolvedExecutable: String? { Self.find(executable) }

    package static func find(_ name: String) -> String? {
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let path = (cleanEnvironment["PATH"] ?? "/usr/bin:/bin").components(separatedBy: ":")
        return (path + ["/usr/sbin", "/sbin"]).map { "\($0)/\(name)" }.first { (file: String) in access(file, X_OK) == 0
        }
    }
}

/// Why a program of the test environment failed.
package struct ProcessFailure: Error, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}
