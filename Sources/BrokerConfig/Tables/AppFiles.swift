import BrokerValues

/// The apps of `apps.d/*.toml`: one table per app, under the name that requests use. A file with a mistake is ignored; the
/// others count.
package struct AppFiles: Sendable, Equatable {
    /// Ordered by name.
    package let entries: [AppFileEntry]
    package let mistakes: [ConfigurationError]

    package init(entries: [AppFileEntry] = [], mistakes: [ConfigurationError] = []) {
        self.entries = entries
        self.mistakes = mistakes
    }
}
