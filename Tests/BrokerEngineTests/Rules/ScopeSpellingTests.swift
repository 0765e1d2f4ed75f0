import BrokerEngine
import BrokerModel
import Testing

@Suite("Spelling of granted scopes")
struct ScopeSpellingTests {
    private func spelled(_ granted: String, asking requested: [String], at kind: ProviderKind) -> String {
        ScopeSpelling(of: Scopes(requested), at: kind).requested(granted.split(separator: " ")).joined(separator: " ")
    }

    @Test(
        "a scope at Entra is equal with and without its resource",
        arguments: [ProviderKind.entra, .ciam, .b2c, .adfs])
    func resource(kind: ProviderKind) {
        #expect(spelled("do", asking: ["api://x/do"], at: kind) == "api://x/do")
        #expect(spelled("api://x/do", asking: ["Do"], at: kind) == "Do")
        #expect(spelled("api://y/do", asking: ["api://x/do"], at: kind) == "api://y/do")
        #expect(spelled("do api://x/do", asking: ["api://x/do"], at: kind) == "do api://x/do")
        #expect(spelled("do do", asking: ["api://x/do"], at: kind) == "api://x/do do")
    }

    @Test("a name with a path is another scope at other providers")
    func generic() {
        #expect(spelled("do", asking: ["https://x.example/do"], at: .generic) == "do")
        #expect(spelled("https://x.example/do", asking: ["do"], at: .generic) == "https://x.example/do")
    }

    @Test("slashes, commas and case make no difference", arguments: ProviderKind.allCases)
    func separators(kind: ProviderKind) {
        #expect(spelled("https://X.example/A", asking: ["https://x.example//a"], at: kind) == "https://x.example//a")
        #expect(spelled("repo,gist", asking: ["gist", "repo"], at: kind) == "repo gist")
        #expect(spelled("a,b", asking: ["a,b"], at: kind) == "a,b")
        #expect(spelled("write", asking: ["read"], at: kind) == "write")
    }
}
