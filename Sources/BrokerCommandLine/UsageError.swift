/// An invalid command line.
package struct UsageError: Error, Equatable {
    /// One sentence that says what to do.
    package let message: String
    /// The help of the option or argument concerned.
    package var help = ""
    package var isAboutSubcommand = false

    package init(_ message: String) { self.message = message }

    init(_ message: String, about declaration: Declaration) {
        self.message = message
        let words = declaration.words.suffix(1) + [declaration.placeholder].filter { !$0.isEmpty }
        help = "\(words.joined(separator: " ")): \(declaration.summary)"
    }
}
