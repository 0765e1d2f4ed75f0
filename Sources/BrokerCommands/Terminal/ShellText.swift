import BrokerCommandLine
import BrokerValues

/// Text that a shell reads as exactly one word.
package enum ShellText {
    /// Quoted only if necessary, for commands shown to people.
    package static func quoted(_ text: String) -> String { HandOver.shownShellWord(text) }

    /// A command line shown to people; foreign text in it is made safe.
    package static func command(_ words: [String]) -> String {
        words.map { quoted($0.cleanWhole) }.joined(separator: " ")
    }
}
