import BrokerValues
import Foundation

/// A headless Chromium that a test drives through chromedriver, by the W3C WebDriver protocol
/// (https://www.w3.org/TR/webdriver2/).
package struct HeadlessBrowser: Sendable {
    /// An element of the current page; it is valid until the page changes.
    package struct Element: Sendable {
        fileprivate var id: String
    }

    /// The name of an element's id in WebDriver's JSON (section 12, "Elements").
    private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    private let http: HTTPSession
    private let session: String

    /// Starts chromedriver and a browser with a separate profile; `arguments` are more switches for Chromium.
    package static func start(in bed: TestBed, arguments: [String] = []) async throws -> HeadlessBrowser {
        try Prerequisite.chromium.require()
        let port = try FreePort.next()
        let home = try bed.makeDirectory("browser-home")
        let driver = try bed.start(Launch("chromedriver", ["--port=\(port)"], environment: ["HOME": home]))
        let http = HTTPSession(in: bed)
        let base = "http://127.0.0.1:\(port)"
        try await eventually("chromedriver answers") {
            try driver.requireRunning()
            return (try? await http.get("\(base)/status"))?.status == 200
        }
        var switches = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
        ]
        switches += ["--user-data-dir=\(home)/profile", "--window-size=1000,800"]
        // Chromium's sandbox does not work for root, which runs the tests in containers.
        if geteuid() == 0 { switches.append("--no-sandbox") }
        let options: JSONObject = [
            "args": .array((switches + arguments).map { .string($0) }),
            "binary": .string(Launch.find("chromium") ?? "chromium"),
        ]
        let capabilities: JSONObject = [
            "browserName": "chrome", "acceptInsecureCerts": false, "goog:chromeOptions": .object(options),
            "goog:loggingPrefs": ["browser": "ALL"],
        ]
        let reply = try await http.send(
            "POST", "\(base)/session", body: .json(["capabilities": ["alwaysMatch": .object(capabilities)]]))
        guard let id = try reply.json().objectValue?["value"]?.objectValue?["sessionId"]?.stringValue else {
            throw ProcessFailure("Chromium did not start: \(reply.text.prefix(1000))")
        }
        let browser = HeadlessBrowser(http: http, session: "\(base)/session/\(id)")
        bed.atEnd { try? await browser.quit() }
        return browser
    }

    package func quit() async throws { _ = try await http.send("DELETE", session) }

    package func open(_ url: String) async throws { try await command("POST", "/url", ["url": .string(url)]) }

    /// Like F5.
    package func reload() async throws { try await command("POST", "/refresh", [:]) }

    package var url: String { get async throws { try await command("GET", "/url").stringValue ?? "" } }
    package var title: String { get async throws { try await command("GET", "/title").stringValue ?? "" } }
    package var pageSource: String { get async throws { try await command("GET", "/source").stringValue ?? "" } }

    /// The visible text of the page.
    package var visibleText: String { get async throws { try await text(of: find("body")) } }

    /// The pages' console output since the last call, including refused resources and policy violations.
    package var console: [String] {
        get async throws {
            let entries = try await command("POST", "/se/log", ["type": "browser"]).arrayValue ?? []
            return entries.compactMap { $0.objectValue?["message"]?.stringValue }
        }
    }

    /// The page as PNG.
    package func screenshot() async throws -> Data {
        Data(base64Encoded: try await command("GET", "/screenshot").stringValue ?? "") ?? Data()
    }

    /// Waits for the first visible element that a CSS selector names.
    package func find(_ selector: String, seconds: Double = usualPatience) async throws -> Element {
        try await find(using: "css selector", selector, seconds: seconds)
    }

    /// Every element that a CSS selector names now, visible or not.
    package func findAll(_ selector: String) async throws -> [Element] {
        try await elements(using: "css selector", selector)
    }

    /// Waits for the first visible button with this text that is enabled.
    package func findButton(_ text: String, seconds: Double = usualPatience) async throws -> Element {
        let button = "//button[contains(normalize-space(.), '\(text)') and not(@disabled)]"
        return try await find(using: "xpath", button, seconds: seconds)
    }

    /// Waits for the first visible heading with this text.
    @discardableResult
    package func findHeading(_ text: String, seconds: Double = usualPatience) async throws -> Element {
        try await find(using: "xpath", "//h1[contains(normalize-space(.), '\(text)')]", seconds: seconds)
    }

    package func click(_ element: Element) async throws {
        try await command("POST", "/element/\(element.id)/click", [:])
    }

    package func fill(_ element: Element, _ text: String) async throws {
        try await command("POST", "/element/\(element.id)/clear", [:])
        try await command("POST", "/element/\(element.id)/value", ["text": .string(text)])
    }

    package func text(of element: Element) async throws -> String {
        try await command("GET", "/element/\(element.id)/text").stringValue ?? ""
    }

    /// Runs a script in the page and returns its result.
    package func evaluate(_ script: String) async throws -> JSONValue {
        try await command("POST", "/execute/sync", ["script": .string(script), "args": []])
    }

    /// Sends a command of the Chrome DevTools Protocol, for features that WebDriver lacks (screen size, color scheme).
    @discardableResult
    package func devTools(_ method: String, _ parameters: JSONObject = [:]) async throws -> JSONValue {
        try await command("POST", "/goog/cdp/execute", ["cmd": .string(method), "params": .object(parameters)])
    }

    /// Waits until the browser's URL has this prefix.
    package func waitForURL(prefix: String, seconds: Double = usualPatience) async throws {
        try await eventually("the browser is at \(prefix)", seconds: seconds) { try await url.hasPrefix(prefix) }
    }

    private func find(using strategy: String, _ value: String, seconds: Double) async throws -> Element {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        while clock.now < end {
            for element in (try? await elements(using: strategy, value)) ?? [] {
                let shown = try? await command("GET", "/element/\(element.id)/displayed").boolValue
                if shown == true { return element }
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let page = (try? await visibleText) ?? "(no page)"
        throw ProcessFailure("The page has no visible \(value). It says:\n\(page.prefix(1000))")
    }

    private func elements(using strategy: String, _ value: String) async throws -> [Element] {
        let query: JSONValue = ["using": .string(strategy), "value": .string(value)]
        let found = try await command("POST", "/elements", query).arrayValue ?? []
        return found.compactMap { $0.objectValue?[Self.elementKey]?.stringValue }.map(Element.init(id:))
    }

    @discardableResult
    private func command(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
        let reply = try await http.send(method, session + path, body: body.map { .json($0) })
        let value = try reply.json().objectValue?["value"] ?? .null
        guard reply.status == 200 else {
            let message = value.objectValue?["message"]?.stringValue ?? ""
            throw ProcessFailure("WebDriver \(method) \(path): \(message.prefix(300))")
        }
        return value
    }
}
