/// Collects the declarations of a command. Given a command line, it also assigns each value to the variable of its
/// declaration.
package struct Arguments {
    private(set) var declarations: [Declaration] = []
    /// The words of each declaration, in order of declaration; `nil` if there is no command line.
    private let given: [[String]]?
    private var next = 0
    /// The first mistake.
    private(set) var mistake: UsageError?

    init() { given = nil }

    init(_ given: ParsedArguments) {
        declarations = given.declarations
        self.given = given.words
    }

    package mutating func group(_ group: inout some ArgumentGroup) {
        group.declare(in: &self)
        guard given != nil, mistake == nil else { return }
        do throws(UsageError) { try group.validate() } catch { mistake = error }
    }

    package mutating func flag(
        _ name: String, _ isSet: inout Bool, short: Character? = nil, _ summary: String, _ details: String = ""
    ) {
        let words = take { Declaration(kind: .flag, name: name, short: short, summary: summary, details: details) }
        if !words.isEmpty { isSet = true }
    }

    /// A flag with a negation, `--no-NAME`. The last one counts; `nil` remains if neither is given.
    package mutating func choice(_ name: String, _ isSet: inout Bool?, _ summary: String) {
        let words = take { Declaration(kind: .choice, name: name, summary: summary) }
        if let last = words.last { isSet = last == name }
    }

    /// - Parameter value: the value's name in help; the option's name if left out.
    package mutating func option<Value: ArgumentValue>(
        _ name: String, _ variable: inout Value?, value: String? = nil, _ summary: String, _ details: String = "",
        completing completion: Completion = .none
    ) {
        read(Value.self) {
            Declaration(
                kind: .option, name: name, value: value ?? name, summary: summary, details: details, type: Value.self,
                completion: completion)
        } with: {
            variable = $0
        }
    }

    /// An option with a default, or a required one.
    package mutating func option<Value: ArgumentValue>(
        _ name: String, _ variable: inout Value, value: String? = nil, isRequired: Bool = false, _ summary: String,
        completing completion: Completion = .none
    ) {
        read(Value.self) {
            Declaration(
                kind: .option, name: name, value: value ?? name, summary: summary, isRequired: isRequired,
                type: Value.self,
                completion: completion)
        } with: {
            variable = $0
        }
    }

    /// An option that may be repeated.
    ///
    /// - Parameter takesSeveral: whether it takes all words up to the next option.
    package mutating func list<Value: ArgumentValue>(
        _ name: String, _ variable: inout [Value], value: String? = nil, takesSeveral: Bool = false, _ summary: String,
        _ details: String = "", completing completion: Completion = .none
    ) {
        read(Value.self) {
            Declaration(
                kind: takesSeveral ? .listOption : .option, name: name, value: value ?? name, summary: summary,
                details: details, isRepeated: true, type: Value.self, completion: completion)
        } with: {
            variable.append($0)
        }
    }

    /// A required argument.
    package mutating func argument<Value: ArgumentValue>(
        _ name: String, _ variable: inout Value, _ summary: String, completing completion: Completion = .none
    ) {
        read(Value.self) {
            Declaration(
                kind: .argument, name: name, summary: summary, isRequired: true, type: Value.self,
                completion: completion)
        } with: {
            variable = $0
        }
    }

    package mutating func argument<Value: ArgumentValue>(
        _ name: String, _ variable: inout Value?, _ summary: String, completing completion: Completion = .none
    ) {
        read(Value.self) {
            Declaration(kind: .argument, name: name, summary: summary, type: Value.self, completion: completion)
        } with: {
            variable = $0
        }
    }

    /// All words after `--`.
    package mutating func rest(_ name: String, _ words: inout [String], _ summary: String) {
        words += take { Declaration(kind: .rest, name: name, summary: summary, isRepeated: true) }
    }

    /// All words after the last declared argument, verbatim, even if they look like options.
    package mutating func tail(_ name: String, _ words: inout [String], _ summary: String) {
        words += take { Declaration(kind: .tail, name: name, summary: summary, isRepeated: true) }
    }

    private mutating func read<Value: ArgumentValue>(
        _: Value.Type, _ declaration: () -> Declaration, with use: (Value) -> Void
    ) {
        for word in take(declaration) {
            guard let value = Value(argument: word) else { return refuse(word) }
            use(value)
        }
    }

    /// - Returns: the words of the command line for the next declaration.
    private mutating func take(_ declaration: () -> Declaration) -> [String] {
        guard let given else {
            declarations.append(declaration())
            return []
        }
        defer { next += 1 }
        if given[next].isEmpty, declarations[next].isRequired, mistake == nil { mistake = .missing(declarations[next]) }
        return given[next]
    }

    private mutating func refuse(_ word: String) {
        guard mistake == nil else { return }
        mistake = .unfit(word, for: declarations[next - 1])
    }
}

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

    /// The declarations of its command line, in order.
    package static var declarations: [Declaration] {
        var (group, arguments) = (Self(), Arguments())
        group.declare(in: &arguments)
        return arguments.declarations
    }

    /// Reads each value of a command line, then validates.
    package init(_ parsed: ParsedArguments) throws(UsageError) {
        var (group, arguments) = (Self(), Arguments(parsed))
        arguments.group(&group)
        if let mistake = arguments.mistake { throw mistake }
        self = group
    }
}
