import BrokerValues

/// A value as given, before it is checked against a setting.
enum SettingValue: Equatable {
    case boolean(Bool)
    case integer(Int)
    case string(String)
    case words([String])
    /// A type that no setting accepts, such as a date; has TOML's name.
    case other(String)

    var typeName: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .string: "a string"
        case .words: "an array"
        case .other(let name): name
        }
    }

    /// A text split like one command of `$BROWSER`: at spaces, except quoted or escaped ones, with no other shell syntax.
    /// `nil` for an open quote.
    var command: SettingValue? {
        guard case .string(let text) = self else { return self }
        return BrowserCommand.words(of: text).map { .words($0) }
    }
}
