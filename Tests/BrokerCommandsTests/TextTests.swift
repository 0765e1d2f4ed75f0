import BrokerCommandLine
import BrokerCommands
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Times, tables and text")
struct TextTests {
    @Test("a sign-in without a refresh token says when and why it ends and what to do then")
    func withoutRefreshToken() throws {
        var token = try Token(reading: JSONReader.read(ScriptedAnswers.token().utf8))
        #expect(!LoginText.done(token, now: token.expiresOn - 3_600).contains("refresh token"))
        token.renewable = false
        let text = LoginText.done(token, now: token.expiresOn - 3_600)
        #expect(text.contains("expires in 1 hour.") && text.contains("gave no refresh token"), "\(text)")
        #expect(text.contains("sign in again"), "\(text)")
    }

    @Test(
        "spans are rounded to their two largest units",
        arguments: [
            (0, "0 seconds"), (1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (89, "1 minute"),
            (90, "2 minutes"), (3_120, "52 minutes"), (3_569, "59 minutes"), (3_570, "1 hour"), (3_600, "1 hour"),
            (3_660, "1 hour 1 minute"), (86_369, "23 hours 59 minutes"), (86_370, "1 day"), (86_400, "1 day"),
            (90_000, "1 day 1 hour"), (2_590_199, "29 days 23 hours"), (2_591_999, "30 days"), (-5, "0 seconds"),
            (Int64.max, "106751991167300 days"),
        ] as [(Int64, String)])
    func spans(_ seconds: Int64, _ words: String) {
        #expect(TimeText.span(seconds) == words)
    }

    @Test("times are relative to now at any distance")
    func relative() {
        #expect(TimeText.relative(1_000, to: 1_000) == "now")
        #expect(TimeText.relative(4_120, to: 1_000) == "in 52 minutes")
        #expect(TimeText.relative(1_000, to: 11_800) == "3 hours ago")
        #expect(TimeText.relative(.max, to: -1) == "never")
        #expect(TimeText.relative(.min, to: 1) == "long ago")
        #expect(TimeText.relative(.min, to: 0).hasSuffix(" ago"))
    }

    @Test("columns are as wide as their widest cell")
    func table() {
        var table = Table("A", "B")
        table.add("x", "1")
        table.add("日本", "2")
        table.add("e\u{301}", "3")
        #expect(table.text() == "A     B\nx     1\n日本  2\ne\u{301}     3\n")
    }

    @Test("a fact without a value is left out")
    func facts() {
        var facts = Facts()
        facts.add("One", nil)
        facts.add("Two", "2")
        #expect(facts.text() == "Two  2\n")
    }

    @Test("control and direction characters are removed from foreign text")
    func clean() {
        #expect("a\u{1B}[31mb\u{7}\n\t\u{7F}\u{9B}c\u{202E}d\u{2066}é雪".clean == "a[31mbcdé雪")
        #expect(String(repeating: "a", count: 30_000).clean.count == 4097)
    }

    @Test("JSON also escapes unsafe characters above U+FFFF without changing the value")
    func jsonBeyondTheFirstPlane() throws {
        let node = try JSONReader.read(Array("[\"a\u{E0041}\u{10FFFD}😀\"]".utf8))
        let line = JSONText.line(node, readable: false)
        #expect(line == #"["a\udb40\udc41\udbff\udffd😀"]"# + "\n")
        #expect(try JSONReader.read(Array(line.utf8)).value == node.value)
    }

    @Test("JSON keeps order and numbers and escapes terminal control characters")
    func json() throws {
        let text = #"{"b":1.50,"a":[true,null,-0,1e2],"c":{},"d":[],"e":"\u009b31m \u202e \n é"}"#
        let node = try JSONReader.read(Array(text.utf8))
        #expect(JSONText.line(node, readable: false) == text + "\n")
        #expect(
            JSONText.line(node, readable: true) == """
                {
                  "b": 1.50,
                  "a": [
                    true,
                    null,
                    -0,
                    1e2
                  ],
                  "c": {},
                  "d": [],
                  "e": "\\u009b31m \\u202e \\n é"
                }

                """)
    }
}
