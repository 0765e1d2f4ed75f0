import BrokerTestSupport
import Foundation
import Testing

@Suite("The threat model")
struct ThreatModelTests {
    private static func text() throws -> String { try PackageTree.text("docs/threat-model.md") }

    private static let tables = [
        "Actors", "Programs that are handed foreign text", "One broker for many users",
    ]

    /// All test sources, concatenated.
    private static func tests() throws -> String {
        let root = "\(PackageTree.root.path)/Tests"
        let files = try #require(FileManager.default.enumerator(atPath: root)).compactMap { $0 as? String }
        return try files.filter { $0.hasSuffix("Tests.swift") && !$0.hasPrefix("ArchitectureTests/") }
            .map { try PackageTree.text("Tests/" + $0) }.joined(separator: "\n")
    }

    @Test("each named test exists")
    func named() throws {
        let tests = try Self.tests()
        for name in try Self.text().matches(of: /`([A-Z][A-Za-z]*Tests)(?:\.([A-Za-z]+))?`/)
        where name.1 != "ArchitectureTests" {
            #expect(tests.contains("struct \(name.1) {"), "\(name.1)")
            if let function = name.2 { #expect(tests.contains("func \(function)("), "\(name.1).\(function)") }
        }
    }

    @Test("each row and each rule has a test, except for threats that cannot be stopped")
    func everyClaim() throws {
        let parts = try Self.text().split(separator: "\n## ")
        for part in parts where Self.tables.contains(where: part.hasPrefix) {
            let rows = part.split(separator: "\n").filter { row in
                row.hasPrefix("| ") && !["| actor", "| program |"].contains(where: row.hasPrefix)
            }
            #expect(!rows.isEmpty)
            for row in rows where !["| root", "| somebody who takes over"].contains(where: row.hasPrefix) {
                #expect(row.contains(/`[A-Z][A-Za-z]*Tests/), "\(row.prefix(80))")
            }
        }
        for part in parts where ["Actors", "One broker for many users"].contains(where: part.hasPrefix) {
            let actors = part.components(separatedBy: "\n### ").dropFirst()
            #expect(!actors.isEmpty)
            for actor in actors where !actor.hasPrefix("An intruder in the broker") {
                #expect(actor.contains(/`[A-Z][A-Za-z]*Tests/), "\(actor.prefix(80))")
            }
        }
        let rules = try #require(parts.first { $0.hasPrefix("Rules and their purposes") }).split(separator: "\n- ")
            .dropFirst()
        #expect(!rules.isEmpty)
        for rule in rules { #expect(rule.contains(/`[A-Z][A-Za-z]*Tests/), "\(rule.prefix(80))") }
    }
}
