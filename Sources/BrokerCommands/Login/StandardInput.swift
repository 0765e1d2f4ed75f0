import BrokerSystem

/// What is typed or piped in.
enum StandardInput {
    /// The lines until the end of input. They are read on a thread of its own, which stays behind when nobody asks for
    /// more: a read from a terminal cannot be taken back. From this call on, keys are the program's: ask it before the person
    /// is told to type.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            let isTerminal = TerminalMode.takeCharacters()
            let status = DetachedThread.start {
                let input = TerminalInput(isTerminal: isTerminal)
                while let line = input.next() {
                    if case .terminated = continuation.yield(line) { return }
                }
                continuation.finish()
            }
            if status != 0 { continuation.finish() }
        }
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
