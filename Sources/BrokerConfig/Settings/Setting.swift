/// One key of the configuration: its type, bounds, other sources, and effect.
///
/// ``all`` lists them. Reading, checking, reloading and the table of docs/configuration.md follow that list.
package struct Setting: Sendable {
    /// Table and key, joined by a dot.
    package let name: String
    package let kind: Kind
    /// Whether SIGHUP is enough, or the daemon must be restarted.
    package let takesEffect: TakesEffect
    /// The long option of brokerd that sets it.
    package var flag: String?
    /// The environment variable that sets it.
    package var environment: String?
    /// The default in words, if the value itself does not show it.
    package var defaultNote: String?
    /// Its names in earlier releases. A file that uses one is read, with a remark.
    package var formerNames: [String] = []
    /// Whether a system broker ignores it.
    package var isPersonal = false
    package let summary: String

    package enum TakesEffect: String, Sendable { case reload, restart }

    package typealias Field<Value> = WritableKeyPath<BrokerConfiguration, Value> & Sendable

    package enum Kind: Sendable {
        case boolean(Field<Bool>)
        case integer(Field<Int>, ClosedRange<Int>, unit: String?)
        case choice(Field<String>, [String])
        /// Names of key sources, or one. The vault defines them (``ConfigurationLoader/keySources``).
        case keySources(Field<[String]>)
        /// Absolute, or below the home directory with a leading `~/`.
        case path(Field<String?>)
        /// The same, or ``BrokerConfiguration/Doors/off``.
        case pathOrOff(Field<String?>)
        /// A command: a program and its arguments, run without a shell. Empty if not set.
        case command(Field<[String]>)
    }
}

extension Setting.Kind {
    /// The value as a file would give it; empty for a path that is not set.
    package func text(in configuration: BrokerConfiguration) -> String {
        switch self {
        case .boolean(let field): String(configuration[keyPath: field])
        case .integer(let field, _, _): String(configuration[keyPath: field])
        case .choice(let field, _): configuration[keyPath: field]
        case .path(let field), .pathOrOff(let field): configuration[keyPath: field] ?? ""
        case .keySources(let field), .command(let field): TOMLText.quoted(configuration[keyPath: field])
        }
    }

    func copy(from source: BrokerConfiguration, to target: inout BrokerConfiguration) {
        switch self {
        case .boolean(let field): target[keyPath: field] = source[keyPath: field]
        case .integer(let field, _, _): target[keyPath: field] = source[keyPath: field]
        case .choice(let field, _): target[keyPath: field] = source[keyPath: field]
        case .path(let field), .pathOrOff(let field): target[keyPath: field] = source[keyPath: field]
        case .keySources(let field), .command(let field): target[keyPath: field] = source[keyPath: field]
        }
    }
}
