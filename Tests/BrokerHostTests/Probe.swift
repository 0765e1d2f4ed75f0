import BrokerTestSupport
import Foundation

extension TestBed {
    /// Starts the probe (Tests/HostProbe).
    func probe(
        _ what: String, _ arguments: String..., environment: [String: String] = [:], hasInput: Bool = false
    ) throws -> ManagedProcess {
        let launch = Launch(
            try PackageTree.program("host-probe"), [what] + arguments, environment: environment, hasInput: hasInput)
        return try start(launch, as: "probe")
    }
}
