/// Opens a page in the user's browser, for `presentation: "broker"`.
package protocol BrowserOpener: Sendable {
    /// - Throws: ``BrowserError`` if no browser could be started.
    func open(_ url: String) async throws(BrowserError)
}

package struct BrowserError: Error, Sendable, Equatable {
    package var message: String
    package init(_ message: String) { self.message = message }
}
