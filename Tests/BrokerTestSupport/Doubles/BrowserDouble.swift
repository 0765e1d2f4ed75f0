import BrokerModel

/// Records the pages that it was asked to show.
package final class BrowserDouble: BrowserOpener {
    private let urls = Recorder<String>()

    package init() {}

    package var opened: [String] { urls.all }

    package func open(_ url: String) async throws(BrowserError) { urls.add(url) }
}
