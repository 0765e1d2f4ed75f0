import BrokerTestSupport
import Foundation
import Testing

@Suite("The layers hold")
struct LayeringTests {
    @Test("every source imports only what its layer may", arguments: Layer.all.map(\.name))
    func imports(name: String) throws {
        let layer = try #require(Layer.all.first { $0.name == name })
        let files = try SourceFile.all(below: "Sources/\(layer.folder)")
        #expect(!files.isEmpty, "\(layer.folder) has no sources: is the table out of date?")
        let findings = files.flatMap { Rules.imports(of: $0, in: layer) }
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("no source is outside the table")
    func complete() throws {
        let strangers = try SourceFile.all(below: "Sources").filter { $0.layer == nil }.map(\.path)
        #expect(strangers.isEmpty, "\(strangers)")
    }

    @Test("the table itself points downwards, and not to siblings")
    func downwards() {
        let heights = Dictionary(uniqueKeysWithValues: Layer.all.map { ($0.name, $0.height) })
        for layer in Layer.all {
            for target in layer.targets {
                // The C modules have no level: they are at the bottom.
                #expect(heights[target, default: 0] < layer.height, "\(layer.name) → \(target)")
            }
        }
    }

    @Test("the client library is small: no NIO, libsodium, libcurl, systemd or logging")
    func smallClient() throws {
        let reached = try Layer.all.reaching(from: "BrokerClient")
        let libraries = Layer.all.filter { reached.contains($0.name) }.flatMap(\.libraries)
        #expect(reached == ["BrokerClient", "BrokerLink", "BrokerRPC", "BrokerSystem", "BrokerValues"])
        #expect(libraries == ["FoundationEssentials"])
    }

    @Test("the package declares the dependencies of the table, and no others")
    func manifest() throws {
        let text = try PackageTree.text("Package.swift")
        #expect(!text.contains("unsafeFlags"), "SwiftPM refuses such a package as a dependency")
        let manifest = Manifest(text)
        for layer in Layer.all {
            // These are part of the toolchain and are declared nowhere.
            let expected = layer.targets.union(layer.libraries)
                .subtracting(["FoundationNetworking", "FoundationEssentials"])
            #expect(manifest.dependencies(of: layer.name) == expected, "\(layer.name)")
        }
    }

    @Test("each package linked into the installed programs has an exact version, indirect ones too")
    func exactVersions() throws {
        let text = try PackageTree.text("Package.swift")
        let packages = try ["brokerd", "brokerctl"].flatMap(LinkedPackages.of)
        #expect(packages.contains("swift-nio") && packages.contains("swift-collections"), "\(packages)")
        for package in Set(packages) { #expect(text.contains("/\(package)\", exact: \""), "\(package)") }
    }

    @Test("the fuzzer's own package declares the same targets for the same layers")
    func fuzzedLayers() throws {
        let path = PackageTree.root.appending(path: "Tests/Fuzzing/Package.swift")
        let manifest = Manifest(try String(contentsOf: path, encoding: .utf8))
        let fuzzed = Layer.all.filter { manifest.dependencies(of: $0.name) != nil }
        #expect(fuzzed.count >= 9, "\(fuzzed.map(\.name))")
        for layer in fuzzed {
            #expect(manifest.dependencies(of: layer.name) == layer.targets, "\(layer.name)")
        }
    }
}

@Suite("Code conventions")
struct ConventionTests {
    @Test("public is used only in the client library, and for the types it reexports")
    func publicDeclarations() throws {
        let findings = try SourceFile.all(below: "Sources").filter {
            $0.layer.map { !["BrokerClient", "BrokerLink"].contains($0.name) } ?? true
        }
        .flatMap(Rules.publicDeclarations)
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("no code crashes on purpose or casts by force")
    func forbiddenCode() throws {
        let findings = try SourceFile.all(below: "Sources").flatMap(Rules.forbiddenCode)
            .filter { Exceptions.crashes[$0.path] == nil }
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("the broker, its tools and the client library use one JSON reader")
    func slowReaders() throws {
        let findings = try SourceFile.all(below: "Sources").filter { $0.layer?.shipped == true }
            .flatMap(Rules.slowReaders)
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test(
        "the installed programs do not link Foundation, a fifth to half of their size (decision 1)",
        arguments: ["brokerd", "brokerctl"])
    func programsWithoutFoundation(program: String) throws {
        let layers = try Layer.all.reaching(from: program)
        #expect(layers.contains("BrokerValues") && !layers.contains("BrokerClient"))
        let files = try SourceFile.all(below: "Sources").filter { $0.layer.map { layers.contains($0.name) } ?? false }
        let findings = files.filter { $0.text.imports.contains { $0.module.hasPrefix("Foundation") } }
        #expect(findings.isEmpty, "\(findings.map(\.path))")
        // The parser uses Foundation, too.
        #expect(Layer.all.allSatisfy { !layers.contains($0.name) || !$0.libraries.contains("ArgumentParser") })
    }

    @Test(
        "a provider's text is compared byte by byte",
        arguments: ["BrokerModel", "BrokerOAuth", "BrokerEngine", "BrokerAccess"])
    func looseComparisons(layer: String) throws {
        let findings = try SourceFile.all(below: "Sources/\(layer)").flatMap(Rules.looseComparisons)
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("one target knows the vault's database, and the composition hands it in")
    func storage() throws {
        let findings = try SourceFile.all(below: "Sources").filter { $0.layer?.name != "BrokerVaultSQLite" }
            .flatMap(Rules.storage).map { "\($0.path):\($0.line)" }
        let composition = try SourceFile.all(below: "Sources/BrokerDaemon").flatMap { file in
            (file.text.lines(with: "import BrokerVaultSQLite") + file.text.lines(with: "SQLiteStore"))
                .map { "\(file.path):\($0)" }
        }
        #expect(composition.count == 2 && findings.sorted() == composition.sorted(), "\(findings)")
    }

    @Test("a claim that the compiler cannot check is justified in a comment")
    func unprovedClaims() throws {
        let findings = try SourceFile.all(below: "Sources").flatMap(Rules.unprovedClaims)
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("no test has a time limit, spins while it waits, or ends the process with its other tests")
    func impatience() throws {
        // Separate programs, and a text that is written in a test.
        let others = ["Tests/Fuzzing/", "Tests/Soak/", "Tests/Benchmarks/", "Tests/BrokerTestSupport/Doubles/Samples"]
        let findings = try SourceFile.all(below: "Tests").filter { file in !others.contains { file.path.hasPrefix($0) }
        }
        .flatMap(Rules.impatience)
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test("tests need no @testable")
    func testable() throws {
        let findings = try SourceFile.all(below: "Tests").filter { $0.text.imports.contains(where: \.isTestable) }
        #expect(findings.isEmpty, "\(findings.map(\.path))")
    }

    @Test("no file exceeds the length limit", arguments: ["Sources", "Tests"])
    func length(folder: String) throws {
        let findings = try SourceFile.all(below: folder).filter { Exceptions.long[$0.path] == nil }
            .flatMap { Rules.length(of: $0, limit: 400) }
        #expect(findings.isEmpty, "\(list(findings))")
    }

    @Test(
        "each new element is in the list that the program reads, which is the second file that it touches",
        arguments: [
            ("Front", 2), ("SandboxAttestor", 1), ("KeySource", 4), ("ProviderRules", 2), ("EntraFamily", 3),
            ("Subcommand", 30), ("WaitingSubcommand", 5), ("Noun", 5),
        ])
    func listed(kind: String, atLeast count: Int) throws {
        let files = try SourceFile.all(below: "Sources")
        let elements = files.flatMap { Rules.types(of: $0, conformingTo: kind) }
        #expect(elements.count >= count, "\(elements)")
        let missing = elements.filter { type in
            files.allSatisfy { $0.text.lines(with: "\(type).self").isEmpty && $0.text.lines(with: "\(type)(").isEmpty }
        }
        #expect(missing.isEmpty, "\(missing) are in no list")
    }

    @Test("an unused exception is removed")
    func staleExceptions() throws {
        let files = try Dictionary(
            uniqueKeysWithValues: (SourceFile.all(below: "Sources") + SourceFile.all(below: "Tests"))
                .map { ($0.path, $0) })
        for path in Exceptions.crashes.keys {
            #expect(files[path].map(Rules.forbiddenCode)?.isEmpty == false, "\(path)")
        }
        for path in Exceptions.long.keys {
            #expect(files[path].map { Rules.length(of: $0, limit: 400) }?.isEmpty == false, "\(path)")
        }
    }
}

/// Files that are exempt from a rule, each with its reason.
enum Exceptions {
    static let crashes: [String: String] = [:]
    static let long: [String: String] = [:]
}

extension [Layer] {
    /// A layer, and the targets below it that it uses.
    fileprivate func reaching(from name: String) throws -> Set<String> {
        var next = [try #require(first { $0.name == name })]
        var reached: Set<String> = [name]
        while let layer = next.popLast() {
            reached.formUnion(layer.targets)
            next += filter { layer.targets.contains($0.name) }
        }
        return reached
    }
}

private func list(_ findings: [Finding]) -> String { findings.map(\.description).joined(separator: "\n") }
