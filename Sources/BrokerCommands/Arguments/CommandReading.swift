import BrokerCommandLine

/// The meaning of a command line.
package enum CommandReading {
    case command(any Command)
    /// The help of a command.
    case help(CommandPath)
    case version
    /// A noun without its verb.
    case incomplete(CommandPath)
    case mistake(UsageError, CommandPath)

    /// - Parameter words: without the program's own name.
    package init(_ words: [String], root: any Command.Type) {
        var path = CommandPath([root])
        var (before, rest) = ([String](), words[...])
        var asksHelp = false
        while !path.last.subcommands.isEmpty {
            // The name nearly always comes first.
            var place = rest.startIndex
            if rest.first?.utf8.first == UInt8(ascii: "-") {
                let options = ParsedArguments(Array(rest), by: path.last.declarations, stopsAtArgument: true)
                if let end = CommandReading(asked: options, path) { self = end; return }
                place += options.firstArgument ?? rest.count
                before += rest[..<place].filter { $0 != "--" }
            }
            guard place < rest.endIndex else {
                self = asksHelp ? .help(path) : .incomplete(path)
                return
            }
            let name = rest[place]
            rest = rest[(place + 1)...]
            if name == "help", path.isRoot, !asksHelp {
                asksHelp = true
            } else if let subcommand = path.last.subcommands.first(where: { $0.about.name == name }) {
                path.append(subcommand)
            } else {
                self = .mistake(.noSubcommand(name, of: path.last, path.names), path)
                return
            }
        }
        self = asksHelp ? .help(path) : CommandReading(path, before + rest)
    }

    /// - Parameter words: all except the command's name.
    private init(_ path: CommandPath, _ words: [String]) {
        let sorted = ParsedArguments(words, by: path.last.declarations)
        if let end = CommandReading(asked: sorted, path) { self = end; return }
        do throws(UsageError) { self = .command(try path.last.init(sorted)) } catch { self = .mistake(error, path) }
    }

    /// Help takes precedence over everything else.
    private init?(asked words: ParsedArguments, _ path: CommandPath) {
        if words.asksHelp {
            self = .help(path)
        } else if words.asksVersion {
            self = .version
        } else if let mistake = words.mistake {
            self = .mistake(mistake, path)
        } else {
            return nil
        }
    }
}

/// The commands from the root down to one.
package struct CommandPath {
    package private(set) var types: [any Command.Type]

    package init(_ types: [any Command.Type]) { self.types = types }

    package mutating func append(_ type: any Command.Type) { types.append(type) }

    var isRoot: Bool { types.count == 1 }
    package var last: any Command.Type { types[types.count - 1] }
    /// The words typed: `["brokerctl", "accounts", "list"]`.
    package var names: [String] { types.map { $0.about.name } }
    package var text: String { names.joined(separator: " ") }
}
