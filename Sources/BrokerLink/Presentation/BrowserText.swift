import BrokerValues

/// Splits a command line into words for ``WebviewParameters/init(command:)``.
package enum BrowserText {
    /// Splits at spaces; quotes and backslashes keep them. No shell is involved.
    ///
    /// - Returns: `nil` for an open quote, and for an empty text.
    package static func of(_ command: String) -> [String]? {
        BrowserCommand.words(of: command).flatMap { $0.isEmpty ? nil : $0 }
    }
}
