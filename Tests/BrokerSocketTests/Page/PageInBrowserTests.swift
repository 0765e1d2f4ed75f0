import BrokerModel
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The real page from the real listener in a real browser.
///
/// With `BROKER_TEST_SCREENSHOTS=FOLDER` in the environment every page is also saved there as a picture.
@Suite("The page in Chromium", .enabled(if: Prerequisite.chromium.shouldRun, "needs chromium and chromium-driver"))
struct PageInBrowserTests {
    struct Look: Sendable, CustomStringConvertible {
        var width: Int
        var isDark: Bool
        var description: String { "\(isDark ? "dark" : "light")-\(width)" }
    }

    static let looks = [
        Look(width: 1280, isDark: false), Look(width: 1280, isDark: true), Look(width: 360, isDark: false),
        Look(width: 360, isDark: true), Look(width: 320, isDark: false),
    ]

    static let pages: [(name: String, heading: String, page: RedirectPage)] = [
        ("signed-in", "You’re signed in", .signedIn(username: "ada@example.org", app: "mail-app")),
        ("canceled", "Sign-in canceled", .canceled(app: "mail-app")),
        (
            "failed", "Sign-in didn’t work",
            .failed(
                app: "mail-app",
                message: "The provider's answer could not be verified: the ID token was issued for another client.")
        ),
        (
            "not-accepted", "This answer can’t be used",
            .notAccepted(app: "mail-app", why: "It did not come from the provider that was asked.")
        ),
        ("not-expected", "No sign-in is waiting for this page", .notExpected),
        (
            "hostile", "You’re signed in",
            .signedIn(
                username: String(repeating: "verylongname", count: 12) + "\u{202E}@example.org",
                app: "<img src=x onerror=alert(1)>" + String(repeating: "W", count: 60))
        ),
    ]

    @Test("every page reads well, light and dark, wide and narrow, and violates no policy")
    func looks() async throws {
        let pages = Dictionary(uniqueKeysWithValues: Self.pages.map { ($0.name, $0.page) })
        try await withRedirect(answer: { pages[$0["code"] ?? ""] ?? .notExpected }) { bed in
            let browser = try await HeadlessBrowser.start(in: bed.bed)
            for look in Self.looks {
                try await browser.show(as: look)
                for (name, heading, _) in Self.pages {
                    try await browser.open("\(bed.endpoint.redirectURI)?code=\(name)&state=secret")
                    try await check(browser, look: look, name: name, heading: heading, bed: bed)
                }
            }
            // On the last page: proves that faint text and a violation would be reported.
            _ = try await browser.evaluate("document.querySelector('h1').style.color = '#999999'")
            let faint = try await browser.evaluate(Self.script).objectValue?["faint"]?.arrayValue
            #expect(faint?.count == 1)
            _ = try await browser.evaluate("document.body.setAttribute('style', 'color: red')")
            let console = try await browser.console
            #expect(console.contains { $0.contains("Content Security Policy") })
        }
    }

    private func check(
        _ browser: HeadlessBrowser, look: Look, name: String, heading: String, bed: RedirectBed
    ) async throws {
        let facts = try #require(try await browser.evaluate(Self.script).objectValue)
        let what = Comment(rawValue: "\(name) \(look)")
        #expect(facts["language"] == "en", what)
        #expect(facts["headings"] == .array([.string(heading)]), what)
        #expect(facts["mains"] == 1, what)
        #expect(facts["mainName"] == .string(heading), what)
        #expect(facts["iconsHidden"] == true, what)
        #expect(facts["overflow"] == 0, what)
        #expect(facts["scheme"] == .string(look.isDark ? "rgb(23, 27, 34)" : "rgb(255, 255, 255)"), what)
        #expect(facts["faint"] == .array([]), what)
        #expect(facts["address"] == .string(bed.path), what)
        #expect(try await browser.title.isEmpty == false, what)
        #expect(try await browser.url == bed.endpoint.redirectURI, what)
        // The answer of an unexpected redirect is 400, which Chromium reports as any failed load.
        let complaints = try await browser.console.filter { !$0.contains("status of 400") }
        #expect(complaints == [], what)
        if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_SCREENSHOTS"] {
            try await browser.screenshot().write(to: URL(filePath: "\(folder)/\(name)-\(look).png"))
        }
    }

    /// Inspects the rendered page; `faint` lists texts whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3).
    static let script = """
        \(ColorContrast.script)
        const faint = [];
        for (const element of document.body.querySelectorAll("h1, p, span, bdi")) {
          if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
          if (ratio(parse(getComputedStyle(element).color), ground(element)) < 4.5) faint.push(element.outerHTML);
        }
        const main = document.querySelector("main");
        return {
          language: document.documentElement.lang,
          headings: [...document.querySelectorAll("h1, h2, h3")].map((heading) => heading.innerText),
          mains: document.querySelectorAll("main").length,
          mainName: document.getElementById(main.getAttribute("aria-labelledby")).innerText,
          iconsHidden: [...document.querySelectorAll("svg")].every((icon) => icon.getAttribute("aria-hidden") === "true"),
          overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
          scheme: getComputedStyle(main).backgroundColor,
          address: location.pathname + location.search + location.hash,
          faint,
        };
        """
}

extension HeadlessBrowser {
    func show(as look: PageInBrowserTests.Look) async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": .integer(Int64(look.width)), "height": 800, "deviceScaleFactor": 1, "mobile": false])
        let features: [JSONValue] = [
            ["name": "prefers-color-scheme", "value": .string(look.isDark ? "dark" : "light")],
            // Animations would be at an intermediate state during the inspection.
            ["name": "prefers-reduced-motion", "value": "reduce"],
        ]
        try await devTools("Emulation.setEmulatedMedia", ["features": .array(features)])
    }
}
