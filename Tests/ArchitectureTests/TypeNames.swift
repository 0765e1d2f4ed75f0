/// The types that a file declares and those that it names, read from its code without a compiler.
///
/// A nested type is known by its whole name (`Outer.Inner`), so that common words such as `Entry` are not mistaken for each
/// other. What follows a dot is a member, unless the words before it name a type. Types that are only inferred stay unseen.
struct TypeNames: Sendable {
    /// A name, part by part.
    typealias Name = [Substring]

    /// The types that other files may name.
    private(set) var shared: Set<Name> = []
    /// All types that are declared here, with private ones and the parameters of generics.
    private(set) var own: Set<Name> = []
    private(set) var uses: [Use] = []

    /// A name as written, and the types in whose bodies it stands.
    struct Use: Sendable {
        var name: Name
        var scope: Name
    }

    private let words: [Substring]
    /// The part of a name that each open brace belongs to; empty for other braces.
    private var scopes: [Name] = []
    /// The type whose body comes next.
    private var next: Name = []

    init(_ text: SourceText) {
        words = Self.words(in: text.code.joined(separator: "\n"))
        var place = 0
        while place < words.count { place = read(at: place) }
    }

    private var scope: Name { scopes.flatMap(\.self) }

    /// - Returns: the place of what follows.
    private mutating func read(at place: Int) -> Int {
        switch words[place] {
        case "import": return max(name(at: place + 1).end, name(at: place + 2).end)
        case "{":
            scopes.append(next)
            next = []
        case "}": _ = scopes.popLast()
        case "extension":
            let (name, end) = name(at: place + 1)
            uses.append(Use(name: scope + name, scope: []))
            next = name
            return end
        case "struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype", "func", "init":
            return declaration(at: place)
        default:
            let (name, end) = name(at: place)
            if !name.isEmpty, word(place - 1) != "." { uses.append(Use(name: name, scope: scope + next)) }
            return max(end, place + 1)
        }
        return place + 1
    }

    private mutating func declaration(at place: Int) -> Int {
        guard word(place - 1) != "." else { return place + 1 }
        let isType = Self.isType(word(place + 1)) && word(place) != "init"
        if isType, word(place) != "func" {
            let name = scope + [word(place + 1)]
            own.insert(name)
            if !isPrivate(place) { shared.insert(name) }
            if !["typealias", "associatedtype"].contains(word(place)) { next = [word(place + 1)] }
        }
        let end = place + (word(place) == "init" ? 1 : 2)
        if word(end) == "<" { addParameters(at: end) }
        return isType || word(place) == "func" ? end : place + 1
    }

    /// The parameters of a generic declaration.
    private mutating func addParameters(at start: Int) {
        var (place, depth) = (start, 0)
        repeat {
            switch word(place) {
            case "<": depth += 1
            case ">": depth -= 1
            case let word where depth == 1 && Self.isType(word) && ["<", ","].contains(self.word(place - 1)):
                own.insert([word])
            default: break
            }
            place += 1
        } while depth > 0 && place < words.count
    }

    private func isPrivate(_ declaration: Int) -> Bool {
        var place = declaration - 1
        while ["package", "public", "internal", "final", "indirect", "nonisolated"].contains(word(place)) { place -= 1 }
        return ["private", "fileprivate"].contains(word(place))
    }

    /// A name of types that begins here; empty if none does.
    private func name(at start: Int) -> (name: Name, end: Int) {
        var (name, place) = (Name(), start)
        while Self.isType(word(place)) {
            name.append(word(place))
            guard word(place + 1) == ".", Self.isType(word(place + 2)) else { return (name, place + 1) }
            place += 2
        }
        return (name, place)
    }

    private func word(_ place: Int) -> Substring { words.indices.contains(place) ? words[place] : "" }

    private static func isType(_ word: Substring) -> Bool {
        word.utf8.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ?? false
    }

    /// Identifiers, and every other character by itself; blanks are left out.
    private static func words(in text: String) -> [Substring] {
        let bytes = text.utf8
        var (words, place) = ([Substring](), bytes.startIndex)
        while place < bytes.endIndex {
            let end = bytes[place...].firstIndex { !isInName($0) } ?? bytes.endIndex
            let isName = end > place
            let after = isName ? end : text.index(after: place)
            if isName || bytes[place] > UInt8(ascii: " ") { words.append(text[place..<after]) }
            place = after
        }
        return words
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
