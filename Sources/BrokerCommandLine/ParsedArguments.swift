/// The words of a command line, each assigned to its declaration.
package struct ParsedArguments {
    let declarations: [Declaration]
    /// The values of each declaration, in order; for a flag, its name once per use.
    private(set) var words: [[String]]
    package private(set) var asksHelp = false
    package private(set) var asksVersion = false
    /// The first mistake.
    package private(set) var mistake: UsageError?
    /// The position of the first word that is neither an option nor its value.
    package private(set) var firstArgument: Int?

    private let line: [String]
    private let stopsAtArgument: Bool
    private var position = 0
    private var isBehindDashes = false
    private var isInTail = false

    /// - Parameter stopsAtArgument: whether to read only the options before a subcommand.
    package init(_ line: [String], by declarations: [Declaration], stopsAtArgument: Bool = false) {
        self.line = line
        self.stopsAtArgument = stopsAtArgument
        self.declarations = declarations
        words = Array(repeating: [], count: declarations.count)
        while position < line.count, !(stopsAtArgument && firstArgument != nil) {
            let word = line[position]
            position += 1
            sort(word)
        }
    }

    private mutating func sort(_ word: String) {
        if isInTail {
            place(word)
        } else if isBehindDashes, let rest = declarations.firstIndex(where: { $0.kind == .rest }) {
            words[rest].append(word)
        } else if isBehindDashes || !Self.isOption(word) {
            if firstArgument == nil { firstArgument = position - 1 }
            if !stopsAtArgument { place(word) }
        } else if word == "--" {
            isBehindDashes = true
        } else if word.utf8.starts(with: "--".utf8) {
            sort(long: word)
        } else {
            for letter in word.dropFirst() { sort(short: letter) }
        }
    }

    /// Whether a word is an option. A single dash is a value, which means standard input.
    private static func isOption(_ word: String) -> Bool {
        let bytes = word.utf8
        return bytes.first == UInt8(ascii: "-") && bytes.count > 1
    }

    private mutating func place(_ word: String) {
        let free = declarations.indices.first { declarations[$0].kind == .argument && words[$0].isEmpty }
        let tail = declarations.firstIndex { $0.kind == .tail }
        if free == nil, tail != nil { isInTail = true }
        guard let place = free ?? tail else { return note(.tooMany(word, among: declarations, in: line)) }
        words[place].append(word)
    }

    private mutating func sort(long word: String) {
        let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = String(word[word.utf8.index(word.startIndex, offsetBy: 2)..<(equals ?? word.endIndex)])
        let value = equals.map { String(word[word.utf8.index(after: $0)...]) }
        for (index, declaration) in declarations.enumerated() where !declaration.isPositional {
            let isTakenBack = declaration.kind == .choice && name == "no-" + declaration.name
            guard isTakenBack || name == declaration.name else { continue }
            guard declaration.takesValue else {
                return value == nil ? words[index].append(name) : note(.hasNoValue(declaration))
            }
            return takeValues(of: index, value)
        }
        switch name {
        case "help": asksHelp = true
        case "version": asksVersion = true
        default: note(.unknown("--" + name, among: declarations))
        }
    }

    private mutating func sort(short letter: Character) {
        if let index = declarations.firstIndex(where: { $0.short == letter }) {
            words[index].append(declarations[index].name)
        } else if letter == "h" {
            asksHelp = true
        } else {
            note(.unknown("-\(letter)", among: []))
        }
    }

    private mutating func takeValues(of index: Int, _ inline: String?) {
        if let inline { return words[index].append(inline) }
        let isList = declarations[index].kind == .listOption
        var count = 0
        while position < line.count, !Self.isOption(line[position]), isList || count == 0 {
            words[index].append(line[position])
            position += 1
            count += 1
        }
        if count == 0 { note(.missingValue(declarations[index])) }
    }

    private mutating func note(_ mistake: UsageError) {
        if self.mistake == nil { self.mistake = mistake }
    }
}
