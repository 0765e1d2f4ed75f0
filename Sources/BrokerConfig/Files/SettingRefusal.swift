/// Why a value does not fit its key. The reader of the file adds the key's name and the place.
struct SettingRefusal: Error {
    let code: ConfigurationError.Code
    let text: String

    init(_ code: ConfigurationError.Code, _ text: String) {
        self.code = code
        self.text = text
    }

    static func wrongType(_ value: SettingValue, instead expected: String) -> SettingRefusal {
        SettingRefusal(.wrongType, "expects \(expected), not \(value.typeName)")
    }

    static func unknown(_ text: String, among choices: [String]) -> SettingRefusal {
        SettingRefusal(.outOfRange, "\"\(text)\" is not one of \(choices.joined(separator: ", "))")
    }
}
