import BrokerCommandLine

/// A subcommand, or a noun with subcommands below it.
package protocol Command: ArgumentGroup {
    static var about: About { get }
    /// Empty for a verb.
    static var subcommands: [any Command.Type] { get }

    /// - Parameter program: the command at the root, which lists all others.
    /// - Returns: the exit status; some commands end the process by themselves.
    func execute(in program: any Command.Type) -> ExitStatus
}

extension Command {
    package static var subcommands: [any Command.Type] { [] }
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
