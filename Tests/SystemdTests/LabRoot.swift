import BrokerTestSupport
import Foundation

/// The base file system of a lab.
enum LabRoot: Sendable, Equatable {
    case machine
    /// A root of that Debian release, by its code name, which is made once (`Fixtures/make-root`).
    case debian(String)

    /// The default of all labs in this run, unless a test needs another one: `BROKER_TEST_RELEASE=trixie`, or this machine.
    static let tested: LabRoot =
        ProcessInfo.processInfo.environment["BROKER_TEST_RELEASE"].map { .debian($0) } ?? .machine

    /// Whether this machine is Debian 12.
    static var machineIsBookworm: Bool {
        let system = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)
        return system?.contains("VERSION_CODENAME=bookworm\n") == true
    }

    func folder(in bed: TestBed) async throws -> String {
        guard case .debian(let release) = self else { return "/" }
        // It downloads packages: through the proxy that this machine needs for that.
        let made = try await bed.run(
            Launch(PackageTree.fixture("make-root"), [release], environment: ProcessInfo.processInfo.environment))
        guard made.succeeded else { throw ProcessFailure("A root of \(release) cannot be made: \(made)") }
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
