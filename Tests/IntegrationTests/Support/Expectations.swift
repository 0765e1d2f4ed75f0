import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// Expects that a call is refused with this kind, and returns the refusal.
@discardableResult
func expectRefusal(
    _ kind: String, reason: String? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ call: () async throws -> some Any
) async -> Refusal? {
    do {
        let result = try await call()
        Issue.record("It was answered \(result), not refused as \(kind).", sourceLocation: sourceLocation)
    } catch let refusal as Refusal {
        #expect(refusal.kind == kind, "\(refusal)", sourceLocation: sourceLocation)
        if let reason { #expect(refusal.reason == reason, "\(refusal)", sourceLocation: sourceLocation) }
        #expect(refusal.code == -32000, sourceLocation: sourceLocation)
        #expect(refusal.message.hasSuffix("."), "A message is a sentence.", sourceLocation: sourceLocation)
        return refusal
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}

extension JSONValue {
    /// Nested members, by their names joined with dots; null if there is no such member.
    subscript(path: String) -> JSONValue {
        path.split(separator: ".").reduce(self) { $0.objectValue?[String($1)] ?? .null }
    }
}

extension JSONObject {
    subscript(path path: String) -> JSONValue { JSONValue.object(self)[path] }

    func text(_ path: String) -> String { self[path: path].stringValue ?? "" }
}

extension Trait where Self == ConditionTrait {
    /// For setups that need root. Otherwise such a test is reported as skipped, with this reason; under `CI=true`
    /// it runs, and fails if it cannot.
    static var needsRoot: Self {
        .enabled(if: Prerequisite.root.shouldRun, "\(Prerequisite.root.missing ?? "")")
    }
}

/// The bytes of every file in a directory, by name.
func snapshot(of directory: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        files[name] = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
    }
    return files
}
