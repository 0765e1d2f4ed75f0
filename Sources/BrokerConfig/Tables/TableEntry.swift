/// One key of a table that a file may have many of: a provider's, a sandbox's, or an alias of an app.
struct TableEntry {
    /// The table's name, without the word before it that says what it describes.
    let table: String
    let key: String
    let value: SettingValue
    let origin: ConfigurationOrigin
}
