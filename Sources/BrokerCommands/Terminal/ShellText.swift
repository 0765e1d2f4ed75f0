import BrokerValues

/// Text that a shell takes as one word and nothing more.
package enum ShellText {
    /// In quotes only where it needs them: for commands that people are shown.
    package static func quoted(_ text: String) -> String { HandOver.shownShellWord(text) }

    /// A command line that people are shown; what is foreign in it is made safe.
    package static func command(_ words: [String]) -> String {
        words.map { quoted($0.cleanWhole) }.joined(separator: " ")
    }
}
