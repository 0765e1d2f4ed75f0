import BrokerValues
import Testing

@Suite("Texts within texts")
struct TextSearchTests {
    @Test(
        "the first occurrence of a text is found",
        arguments: [
            ("a://b://c", "://", "a"), ("://", "://", ""), ("x:/y://", "://", "x:/y"), ("aab", "ab", "a"),
            ("é://", "://", "é"),
            ("a", "", ""),
        ])
    func found(text: String, wanted: String, before: String) throws {
        let place = try #require(text.firstRange(ofText: wanted))
        #expect(text[..<place.lowerBound] == before && text[place] == wanted && text.holds(wanted))
    }

    @Test("a missing text is not found", arguments: [("", "a"), ("ab", "abc"), (":/:/", "://"), ("A", "a")])
    func missing(text: String, wanted: String) {
        #expect(text.firstRange(ofText: wanted) == nil && !text.holds(wanted))
        #expect(text.replacing(text: wanted, with: "x") == text)
    }

    @Test("a combining mark after a text does not hide it")
    func marks() {
        #expect(
            "a//&\u{301}b".holds("//&") && "{tenantid}\u{301}".replacing(text: "{tenantid}", with: "t") == "t\u{301}")
    }

    @Test("each occurrence is replaced, and replacements are not searched again")
    func replaced() {
        #expect("aXbXX".replacing(text: "X", with: "YX") == "aYXbYXYX")
        #expect("aaa".replacing(text: "aa", with: "a") == "aa")
        #expect("abc".replacing(text: "", with: "x") == "abc")
    }
}
