/// One option, flag or argument as its command declares it. Parsing, help, completion and the manual page use these.
package struct Declaration: Sendable {
    package enum Kind: Sendable {
        /// `--show`: present or absent.
        case flag
        /// `--instance-aware` or `--no-instance-aware`.
        case choice
        /// `--app notes`, `--app=notes`.
        case option
        /// `--scope mail.read mail.send`: all words up to the next option.
        case listOption
        /// A value that is identified by its position.
        case argument
        /// All words after `--`.
        case rest
        /// All words from the first that is neither an option nor another argument; another program reads them.
        case tail
    }

    package let kind: Kind
    /// The name without dashes; for an argument, its name in help.
    package let name: String
    /// The letter of the short form: `y` for `-y`.
    package var short: Character?
    /// The value's name in help.
    package var value = ""
    /// The purpose, in one sentence.
    package let summary: String
    /// Further sentences of help.
    package var details = ""
    package var isRequired = false
    package var isRepeated = false
    /// The type of its values.
    package var type: (any ArgumentValue.Type)?
    package var completion = Completion.none

    package var isPositional: Bool { kind == .argument || kind == .rest || kind == .tail }
    package var takesValue: Bool { kind == .option || kind == .listOption }

    /// All possible values; empty if unlimited.
    package var values: [String] { type?.words ?? [] }

    /// The words typed: `-y`, `--yes`.
    package var words: [String] {
        switch kind {
        case .argument, .rest, .tail: []
        case .choice: ["--\(name)", "--no-\(name)"]
        case .flag, .option, .listOption: (short.map { ["-\($0)"] } ?? []) + ["--\(name)"]
        }
    }

    /// The options of every command.
    package static let standard = [
        Declaration(kind: .flag, name: "version", summary: "Show the version."),
        Declaration(kind: .flag, name: "help", short: "h", summary: "Show how the command is used."),
    ]

    /// The value in usage texts: `<name>`.
    package var placeholder: String { isPositional ? "<\(name)>" : takesValue ? "<\(value)>" : "" }
}

/// A shell's completions of a value.
package enum Completion: Sendable, Equatable {
    case none
    case files
    case words([String])
    /// The output of this command, one completion per line.
    case output(of: String)
}

/// The type of one word of a command line.
package protocol ArgumentValue: SendableMetatype {
    init?(argument: String)
    /// All possible words; empty if unlimited.
    static var words: [String] { get }
    /// Descriptions of words, for shells that show them.
    static var meanings: [String: String] { get }
}

extension ArgumentValue {
    package static var words: [String] { [] }
    package static var meanings: [String: String] { [:] }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }
    package static var words: [String] { allCases.map(\.rawValue) }
}

extension String: ArgumentValue {
    package init(argument: String) { self = argument }
}

extension ArgumentValue where Self: FixedWidthInteger {
    package init?(argument: String) { self.init(argument, radix: 10) }
}

extension Int: ArgumentValue {}
extension Int64: ArgumentValue {}
extension UInt32: ArgumentValue {}
