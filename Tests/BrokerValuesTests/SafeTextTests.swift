import BrokerValues
import Testing

@Suite("Text made safe to show")
struct SafeTextTests {
    private func made(_ text: String, _ substitute: SafeText.Substitute) -> String {
        SafeText(text, atMost: 400, substitute).text
    }

    /// C0, DEL, C1; line separators; marks and embeddings of direction; invisible characters, joiners, selectors, fillers, tags;
    /// private use and unassigned characters.
    static let unsafe: [Unicode.Scalar] = [
        "\u{0}", "\u{7}", "\u{8}", "\u{1B}", "\u{7F}", "\u{80}", "\u{85}", "\u{9B}", "\u{2028}", "\u{2029}", "\u{61C}",
        "\u{200B}", "\u{200C}", "\u{200D}", "\u{200E}", "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}",
        "\u{202E}", "\u{2060}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}", "\u{AD}", "\u{FEFF}", "\u{FFF9}",
        "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{34F}", "\u{180B}", "\u{FE0F}", "\u{E0100}", "\u{17B4}",
        "\u{2800}",
        "\u{1D159}", "\u{16FE4}", "\u{E0041}", "\u{E000}", "\u{10FFFD}", "\u{378}", "\u{FFFF}",
    ]

    @Test("every unsafe character is replaced, for each substitute", arguments: unsafe)
    func characters(scalar: Unicode.Scalar) {
        let text = "a\(Character(scalar))b"
        #expect(!scalar.isSafeToShow)
        for substitute in [SafeText.Substitute.blank, .nothing, .mark, .escape] {
            #expect(made(text, substitute).unicodeScalars.allSatisfy { $0.isSafeToShow })
        }
        #expect(made(text, .nothing) == "ab")
        #expect(made(text, .mark) == "a\u{FFFD}b")
        #expect(made(text, .escape) == "a\\u{\(String(scalar.value, radix: 16))}b")
    }

    @Test(
        "letters, marks and signs of all scripts stay",
        arguments: ["Łukasz", "عائشة", "田中さん", "e\u{301}", "naïve – “x” €5 <b>&'\"\\", "👩", "a b", ""])
    func letters(text: String) {
        for substitute in [SafeText.Substitute.blank, .nothing, .mark, .escape] {
            #expect(made(text, substitute) == text)
        }
    }

    @Test("ignorable characters are removed: a name with them would look like one without")
    func ignorable() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value), scalar.properties.isDefaultIgnorableCodePoint else { continue }
            #expect(!scalar.isSafeToShow, "\(String(value, radix: 16))")
        }
    }

    @Test("every other kind of blank becomes the usual one, or an escape in a log")
    func blanks() {
        for blank in ["\u{A0}", "\u{1680}", "\u{2003}", "\u{202F}", "\u{3000}"] {
            for substitute in [SafeText.Substitute.blank, .nothing, .mark] {
                #expect(made("a\(blank)b", substitute) == "a b")
            }
            #expect(made("a\(blank)b", .escape).hasPrefix("a\\u{"))
        }
    }

    @Test("a message is one line with single blanks and none at its ends")
    func message() {
        #expect(made(" \r\n one\u{2028}\ttwo \u{A0} three\u{202E}\u{1B}[2J\n", .blank) == "one two three [2J")
        #expect(made("\n \t", .blank) == "")
    }

    @Test("a line end becomes a blank on a page")
    func page() {
        #expect(made("a\r\nb\tc", .mark) == "a  b c")
    }

    @Test(
        "longer text is truncated with an ellipsis",
        arguments: [("abc", "abc"), ("abcd", "abc…"), ("e\u{301}e\u{301}e\u{301}", "e\u{301}e\u{301}e\u{301}")])
    func length(text: String, result: String) {
        for substitute in [SafeText.Substitute.blank, .nothing, .mark, .escape] {
            let shown = SafeText(text, atMost: 3, substitute)
            #expect(shown.text == result && shown.isCut == (text != result))
        }
    }

    @Test("the length bound includes combining marks and escapes")
    func budget() {
        let marks = SafeText("a" + String(repeating: "\u{301}", count: 100_000), atMost: 10, .mark).text
        #expect(marks.unicodeScalars.count == 41 && marks.hasSuffix("…"))
        let escapes = SafeText(String(repeating: "\u{1}", count: 100_000), atMost: 10, .escape).text
        #expect(escapes.count == 11)
    }
}
