/// Options that belong together, for one command or several.
package protocol ArgumentGroup: SendableMetatype {
    /// As when nothing is said. What must be said is overwritten before anybody reads it.
    init()

    /// Names every option, flag and argument, and the variable that its value goes to.
    mutating func declare(in arguments: inout Arguments)

    /// - Throws: where what was said does not go together.
    func validate() throws(UsageError)
}

extension ArgumentGroup {
    package func validate() throws(UsageError) {}
}

/// A subcommand, or a noun with subcommands below it.
package protocol Command: ArgumentGroup {
    static var about: About { get }
    /// None below a verb.
    static var subcommands: [any Command.Type] { get }

    /// - Returns: the exit status; some commands end the process by themselves.
    func execute() -> ExitStatus
}

extension Command {
    package static var subcommands: [any Command.Type] { [] }

    /// All that its command line may have, in the order of their declaration.
    package static var declarations: [Declaration] {
        var (command, arguments) = (Self(), Arguments())
        command.declare(in: &arguments)
        return arguments.declarations
    }
}

/// A word of the command line, and what help says of it.
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

/// A command line that cannot be carried out.
package struct UsageError: Error, Equatable {
    /// One sentence, which says what to do.
    package let message: String
    /// What help says of the option or argument that it is about.
    var help = ""
    var isAboutSubcommand = false

    package init(_ message: String) { self.message = message }

    init(_ message: String, about declaration: Declaration) {
        self.message = message
        let words = declaration.words.suffix(1) + [declaration.placeholder].filter { !$0.isEmpty }
        help = "\(words.joined(separator: " ")): \(declaration.summary)"
    }
}
