import BrokerModel
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The page that asks, in a real browser. Screenshots as in ``PageInBrowserTests``.
@Suite(
    "The question in Chromium", .enabled(if: Prerequisite.chromium.shouldRun, "needs chromium and chromium-driver"))
struct ConsentInChromiumTests {
    private static let hostile = ConsentQuestion(
        caller: CallerIdentity(
            tier: .unknown, id: "/home/ada/" + String(repeating: "W", count: 120) + "\u{202E}/<img src=x>"),
        facts: ["executable": String(repeating: "/deep", count: 60)],
        requests: [.init(app: String(repeating: "app", count: 40), account: nil, scopes: ["s".repeated(300)])])

    private static let client = LongQuestion.client(
        "notes https://login.example.org/ " + "x".repeated(160),
        scopes: (0..<24).map { "https://api.example.org/auth/scope-\($0)" })

    @Test("it reads well, light and dark, wide and narrow, and breaks no policy")
    func looks() async throws {
        try await withTestBed { bed in
            let browser = try await HeadlessBrowser.start(in: bed)
            for look in PageInBrowserTests.looks {
                try await browser.show(as: look)
                let questions = [
                    ("plain", ConsentPageTests.question), ("hostile", Self.hostile), ("client", Self.client),
                    ("cut", LongQuestion.tooLong[2]),
                ]
                for (name, question) in questions {
                    try await ConsentPageTests().run(question) { page in
                        try await browser.open(page.url)
                        let facts = try #require(
                            try await browser.evaluate(PageInBrowserTests.script).objectValue)
                        let what = Comment(rawValue: "\(name) \(look)")
                        #expect(facts["headings"] == ["Let this program use your accounts?"], what)
                        #expect(facts["overflow"] == 0 && facts["faint"] == .array([]), what)
                        let complaints = try await browser.console
                        #expect(complaints == [], what)
                        if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_SCREENSHOTS"] {
                            try await browser.screenshot()
                                .write(to: URL(filePath: "\(folder)/consent-\(name)-\(look).png"))
                        }
                    }
                }
            }
        }
    }

    @Test("its buttons answer", arguments: [("Allow", "Allowed"), ("Deny", "Denied")])
    func buttons(button: String, heading: String) async throws {
        try await withTestBed { bed in
            let browser = try await HeadlessBrowser.start(in: bed)
            try await ConsentPageTests().run { page in
                try await browser.open(page.url)
                try await browser.click(browser.findButton(button))
                try await browser.findHeading(heading)
                #expect(page.answers.all.count == 1)
            }
        }
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
