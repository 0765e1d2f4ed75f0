import BrokerTestSupport
import Foundation

/// Runs the built program, usually against a scripted broker.
func brokerctl(
    _ arguments: [String], at socket: String? = nil, input: String? = nil, environment: [String: String] = [:]
) async throws -> CommandResult {
    try await withTestBed { bed in
        var environment = environment
        environment["BROKER_SOCKET"] = socket
        return try await bed.run(
            Launch(try PackageTree.program("brokerctl"), arguments, environment: environment), input: input)
    }
}

/// A broker with one result for each method.
func broker(_ results: [String: String]) throws -> ScriptedBroker {
    try ScriptedBroker { peer in
        while let request = peer.request() {
            if let result = results[request.method] {
                peer.answer(request, result)
            } else {
                peer.fail(request, "unsupported", message: "Not in this script: \(request.method).")
            }
        }
    }
}

extension CommandResult {
    var lines: [String] { output.split(separator: "\n").map(String.init) }

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: outputData) as? [String: Any]) ?? [:]
    }
}

extension TestBed {
    /// A program for a test. Another process writes it: while other tests start processes, a file that this process just
    /// wrote cannot always be executed (ETXTBSY).
    func install(_ script: String, as name: String) async throws {
        let source = path("source-of-\(name)")
        try script.write(toFile: source, atomically: true, encoding: .utf8)
        _ = try await run(Launch("install", ["-D", "-m", "755", source, path("bin/\(name)")]))
    }
}
