import Testing

/// Each rule must fail on a sample that breaks it; a rule that never fails proves nothing.
@Suite("The rules find violations")
struct RuleTests {
    private func file(_ text: String) -> SourceFile {
        SourceFile(path: "Sources/BrokerVault/Sample.swift", text: SourceText(text))
    }

    private func vault() throws -> Layer { try #require(Layer.all.first { $0.name == "BrokerVault" }) }

    @Test("an import of a higher layer, a sibling, an undeclared library and all of Foundation is found")
    func forbiddenImports() throws {
        let sample = file(
            """
            import BrokerModel
            import BrokerEngine
            @preconcurrency import NIOCore
            package import BrokerOAuth
            import struct Foundation.Data
            import class BrokerServer.Something
            @testable import BrokerValues
            """)
        let findings = Rules.imports(of: sample, in: try vault())
        #expect(findings.map(\.line) == [2, 3, 4, 5, 6, 7])
        #expect(findings.first?.text == "BrokerVault may not import BrokerEngine")
    }

    @Test("allowed imports, and words that only look like imports, are accepted")
    func allowedImports() throws {
        let sample = file(
            """
            // import BrokerEngine
            /* import BrokerServer /* nested */
            import BrokerOAuth */
            import BrokerModel
            import CSodium
            let text = "
            import BrokerEngine"
            let longText = \"\"\"
                import BrokerEngine
                \\(words.map { "import \\($0)" })
                import BrokerEngine
                \"\"\"
            let raw = #"import "BrokerEngine" "#
            let important = imports(BrokerEngine)
            """)
        #expect(Rules.imports(of: sample, in: try vault()).isEmpty)
        #expect(sample.text.imports.map(\.module) == ["BrokerModel", "CSodium"])
        #expect(sample.text.imports.map(\.line) == [4, 5])
    }

    @Test("forced tries and casts, crashes, and public declarations are found")
    func forbiddenCode() {
        let sample = file(
            """
            let a = try! read()
            let b = c as! D
            fatalError("no")
            // try! in a comment
            let text = "public try! \\(name)"
            myfatalErrorHandler()
            """)
        #expect(Set(Rules.forbiddenCode(in: sample).map(\.line)) == [1, 2, 3])
        let declarations = file("public struct A {}\nlet republican = 1\n    public init() {}\n")
        #expect(Rules.publicDeclarations(in: declarations).map(\.line) == [1, 3])
    }

    @Test("a test that measures the machine, or ends the process, is found")
    func impatience() {
        let sample = file(
            """
            @Suite("A", .timeLimit(.minutes(1)))
            while isEmpty { await Task.yield() }
            // Task.yield
            precondition(isOpen)
            let text = "fatalError"
            """)
        #expect(Set(Rules.impatience(in: sample).map(\.line)) == [1, 2, 4])
    }

    @Test("another JSON reader is found")
    func slowReaders() {
        let sample = file("let a = try JSONDecoder().decode(A.self, from: b)\n// JSONDecoder\nJSONSerialization.x()\n")
        #expect(Rules.slowReaders(in: sample).map(\.line) == [1, 3])
    }

    @Test("a provider's text compared with == or a pattern is found, unless with a literal")
    func looseComparisons() {
        let sample = file(
            """
            guard claims["nonce"]?.stringValue == expected else { return }
            if expected != claims["nonce"]?.stringValue { return }
            if names.contains(claims["aud"]?.stringValue) { return }
            switch claims["azp"] { case .string(clientID): break }
            let isNone = method["name"]?.stringValue == "none"
            switch claims["aud"] { case .string(let one): use(one) }
            let same = claims["sub"]?.exactText == subject
            if let text = value.stringValue, !text.isEmpty { return .string(text) }
            let isOwn = token.clientID == app.clientID
            if client == nil || client != owner.clientID { return }
            if token.clientID.isExactly(app.clientID), party.exactText == expectation.clientID { return }
            """)
        #expect(Rules.looseComparisons(in: sample).map(\.line) == [1, 2, 3, 4, 9, 10])
    }

    @Test("a database's name, and its language in a text or comment, are found")
    func storage() {
        let sample = file(
            """
            import CSQLite
            try run("DELETE FROM record")
            // PRAGMA synchronous
            let rows = SQLiteStore(in: directory)
            let selected = updates.insert(row)
            """)
        #expect(Rules.storage(in: sample).map(\.line) == [1, 2, 3, 4])
    }

    @Test("an unjustified claim is found")
    func unprovedClaims() {
        let sample = file(
            """
            final class A: @unchecked Sendable {}

            /// `@unchecked Sendable`: it never changes.
            /// Really.
            final class B: @unchecked Sendable {}
            // Another word.
            nonisolated(unsafe) var c = 1
            """)
        #expect(Set(Rules.unprovedClaims(in: sample).map(\.line)) == [1, 7])
    }

    @Test("a type's conformance is found, next to others and with the lists of generics")
    func conformances() {
        let sample = file(
            """
            package struct One: Sendable, Front {
            final class Two<Content: Sendable>: Front {
            enum Three: FrontDoor {}
            struct Four { let front: Front }
            // struct Five: Front {}
            """)
        #expect(Rules.types(of: sample, conformingTo: "Front") == ["One", "Two"])
    }

    @Test("a file of 401 lines is found")
    func length() {
        #expect(Rules.length(of: file(String(repeating: "\n", count: 399)), limit: 400).isEmpty)
        #expect(Rules.length(of: file(String(repeating: "\n", count: 400)), limit: 400).count == 1)
    }

    @Test("a dependency declared in the manifest is read")
    func manifest() {
        let manifest = Manifest(
            """
            static let nio = library("NIOCore", "swift-nio")
            layer("A", ["B"]), layer(
             "C",
             ["A",
             .nio, .unknown]), program("d", ["C"], path: "x")
            """)
        #expect(manifest.dependencies(of: "A") == ["B"])
        #expect(manifest.dependencies(of: "C") == ["A", "NIOCore", ".unknown"])
        #expect(manifest.dependencies(of: "d") == ["C"])
        #expect(manifest.dependencies(of: "e") == nil)
    }
}
