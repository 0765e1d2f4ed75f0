import Testing

@Suite("Files of a target do not refer to each other in a circle")
struct CycleTests {
    @Test("no target has a cycle of files", arguments: Layer.all.map(\.name))
    func targets(name: String) throws {
        let layer = try #require(Layer.all.first { $0.name == name })
        let found = FileCycles(try SourceFile.all(below: "Sources/\(layer.folder)"))
        #expect(found.cycles.isEmpty, "\(found)")
    }

    // MARK: The rule fails on samples that break it

    private func cycles(_ texts: [String: String]) -> [[String]] {
        FileCycles(texts.map { SourceFile(path: $0.key, text: SourceText($0.value)) }).cycles
    }

    @Test("a circle of two files, and one of three, are found")
    func circles() {
        let two = ["a": "struct A { var b: B? }", "b": "struct B { func f() { A.make() } }", "c": "let b = B()"]
        #expect(cycles(two) == [["a", "b"]])
        let three = [
            "a": "package struct A: P<B> {}", "b": "final class B { let c = [C]() }", "c": "enum C { case a(A.Kind) }",
        ]
        #expect(cycles(three) == [["a", "b", "c"]])
        #expect(cycles(three.merging(["c": "enum C { case a }"]) { $1 }) == [])
    }

    @Test("an extension refers to the type that it extends")
    func extensions() {
        let files = ["a": "struct A { let b: B }", "b": "struct B {}\nextension A { func f() {} }"]
        #expect(cycles(files) == [["a", "b"]])
        let nested = ["a": "struct A { let key: Key }", "key": "extension A {\n    struct Key {}\n}"]
        #expect(cycles(nested) == [["a", "key"]])
    }

    @Test("comments, texts, members and imports are no references")
    func words() {
        let files = [
            "a": "struct A {}\n// B\n/* B */ let text = \"B \\(B.x)\"\nlet c = module.B\nimport struct B.A",
            "b": "struct B { let a: A }",
        ]
        #expect(cycles(files) == [])
    }

    @Test("a nested type is not mistaken for another one of its name")
    func nestedTypes() {
        let files = [
            "a": "struct A {\n    struct Entry {}\n    let entry: Entry\n}",
            "b": "struct B {\n    struct Entry {}\n    let (a, b): (A.Entry, Entry)\n}",
            "c": "extension A { func f() -> Entry {} }",
        ]
        #expect(cycles(files) == [])
        let other = ["a": "struct A { let entry: B.Entry }", "b": "struct B {\n    struct Entry {}\n    let a: A\n}"]
        #expect(cycles(other) == [["a", "b"]])
    }

    @Test("a file's own private types and parameters of generics come before those of others")
    func ownNames() {
        let files = [
            "a": """
            private struct Entry {}
            func write<Answer: Sendable, Other>(_ answer: Answer) -> (Entry, Other) {}
            struct A {}
            """,
            "b": "struct Entry { let a: A }\nstruct Answer { let a: A }\nstruct Other { let a: A }",
        ]
        #expect(cycles(files) == [])
    }
}
