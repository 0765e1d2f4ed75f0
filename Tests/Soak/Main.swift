import BrokerTestSupport
import Foundation

/// `broker-soak [SECONDS]`: an hour of mixed load on the built brokerd, with failing providers and networks, restarts and clock
/// steps. Exits with status 1 on any failure.
@main
enum Main {
    static func main() async {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 3600
        do {
            let findings = try await withTestBed { bed in try await Soak.run(for: seconds, in: bed) }
            for finding in findings { print("WRONG: \(finding)") }
            print(findings.isEmpty ? "Nothing went wrong." : "\(findings.count) things went wrong.")
            exit(findings.isEmpty ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("broker-soak: \(error)\n".utf8))
            exit(2)
        }
    }
}
