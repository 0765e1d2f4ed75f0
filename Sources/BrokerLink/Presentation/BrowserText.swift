import BrokerValues

/// A command line cut into words, as ``WebviewParameters/init(command:)`` takes them.
package enum BrowserText {
    /// Cuts at blanks; quotes and backslashes keep them. No shell is asked.
    ///
    /// - Returns: nil for an open quote, and for nothing at all.
    package static func of(_ command: String) -> [String]? {
        BrowserCommand.words(of: command).flatMap { $0.isEmpty ? nil : $0 }
    }
}
