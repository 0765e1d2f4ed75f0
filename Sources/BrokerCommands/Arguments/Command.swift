/// Options that belong together, for one command or several.
package protocol ArgumentGroup: SendableMetatype {
    /// The defaults. Required values are overwritten before they are read.
    init()

    /// Declares every option, flag and argument, and the variable for its value.
    mutating func declare(in arguments: inout Arguments)

    /// - Throws: if the arguments contradict each other.
    func validate() throws(UsageError)
}

extension ArgumentGroup {
    package func validate() throws(UsageError) {}
}

/// A subcommand, or a noun with subcommands below it.
package protocol Command: ArgumentGroup {
    static var about: About { get }
    /// Empty for a verb.
    static var subcommands: [any Command.Type] { get }

    /// - Returns: the exit status; some commands end the process by themselves.
    func execute() -> ExitStatus
}

extension Command {
    package static var subcommands: [any Command.Type] { [] }

    /// The declarations of its command line, in order.
    package static var declarations: [Declaration] {
        var (command, arguments) = (Self(), Arguments())
        command.declare(in: &arguments)
        return arguments.declarations
    }
}

/// A command's name and its help.
package struct About: Sendable {
    package let name: String
    /// One sentence.
    package let abstract: String
    package let discussion: String

    package init(_ name: String, _ abstract: String, _ discussion: String) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
    }
}

/// An invalid command line.
package struct UsageError: Error, Equatable {
    /// One sentence that says what to do.
    package let message: String
    /// The help of the option or argument concerned.
    var help = ""
    var isAboutSubcommand = false

    package init(_ message: String) { self.message = message }

    init(_ message: String, about declaration: Declaration) {
        self.message = message
        let words = declaration.words.suffix(1) + [declaration.placeholder].filter { !$0.isEmpty }
        help = "\(words.joined(separator: " ")): \(declaration.summary)"
    }
}
