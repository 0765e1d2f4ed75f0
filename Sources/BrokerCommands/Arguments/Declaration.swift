/// One option, flag or argument as its command declares it. Reading, help, completion and the manual page are made of these.
package struct Declaration: Sendable {
    package enum Kind: Sendable {
        /// `--show`: it is there or not.
        case flag
        /// `--instance-aware` or `--no-instance-aware`.
        case choice
        /// `--app notes`, `--app=notes`.
        case option
        /// `--scope mail.read mail.send`: all words up to the next option.
        case listOption
        /// Known by its place.
        case argument
        /// All that stands behind `--`.
        case rest
        /// All from the first word on that is neither an option nor another argument's: another program reads it.
        case tail
    }

    package let kind: Kind
    /// Without dashes; of an argument what help calls it.
    package let name: String
    /// `y` for `-y`.
    var short: Character?
    /// What help calls the value.
    package var value = ""
    /// A sentence.
    package let summary: String
    /// What else there is to say.
    package var details = ""
    package var isRequired = false
    package var isRepeated = false
    /// The type of its values.
    var type: (any ArgumentValue.Type)?
    var completion = Completion.none

    var isPositional: Bool { kind == .argument || kind == .rest || kind == .tail }
    var takesValue: Bool { kind == .option || kind == .listOption }

    /// All that its value can be; empty where there is no end of them.
    var values: [String] { type?.words ?? [] }

    /// As it is typed: `-y`, `--yes`.
    package var words: [String] {
        switch kind {
        case .argument, .rest, .tail: []
        case .choice: ["--\(name)", "--no-\(name)"]
        case .flag, .option, .listOption: (short.map { ["-\($0)"] } ?? []) + ["--\(name)"]
        }
    }

    /// Those that every command has besides its own.
    package static let standard = [
        Declaration(kind: .flag, name: "version", summary: "Show the version."),
        Declaration(kind: .flag, name: "help", short: "h", summary: "Show how the command is used."),
    ]

    /// What is typed besides: `<name>`.
    package var placeholder: String { isPositional ? "<\(name)>" : takesValue ? "<\(value)>" : "" }
}

/// What a shell offers in the place of a value.
package enum Completion: Sendable {
    case none
    case files
    case words([String])
    /// What this command prints at that moment, one a line.
    case output(of: String)
}

/// What one word of a command line can be.
package protocol ArgumentValue: SendableMetatype {
    init?(argument: String)
    /// All words that it can be; none where there is no end of them.
    static var words: [String] { get }
    /// What words mean, for shells that show it.
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
