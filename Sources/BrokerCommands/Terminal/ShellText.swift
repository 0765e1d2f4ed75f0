import BrokerValues

/// Text that a shell takes as one word and nothing more.
package enum ShellText {
    /// In quotes only where it needs them: for commands that people are shown.
    package static func quoted(_ text: String) -> String {
        text.utf8.allSatisfy(isPlain) && !text.isEmpty ? text : HandOver.shellWord(text)
    }

    /// A command line that people are shown; what is foreign in it is made safe.
    package static func command(_ words: [String]) -> String {
        words.map { quoted($0.cleanWhole) }.joined(separator: " ")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
