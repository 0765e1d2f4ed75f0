/// One key of a table that describes a provider or a sandbox, or one alias of an app, as a file has it.
struct TableEntry {
    /// The issuer in `[provider."https://issuer"]`, `NAME` in `[sandbox.NAME]`.
    let table: String
    let key: String
    let value: SettingValue
    let origin: ConfigurationOrigin
}
