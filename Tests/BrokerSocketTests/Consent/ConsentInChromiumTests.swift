import BrokerModel
import BrokerSocket
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

/// The question's page, in a real browser. Screenshots as in ``PageInBrowserTests``.
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

    @Test("the question reads well, light and dark, wide and narrow, and violates no policy")
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

    @Test(
        "with double-sized letters, on a telephone, no word is cut and controls are distinct",
        arguments: [16, 32])
    func largeText(size: Int) async throws {
        try await withTestBed { bed in
            let browser = try await HeadlessBrowser.start(
                in: bed, arguments: ["--blink-settings=defaultFontSize=\(size),defaultFixedFontSize=\(size)"])
            for isDark in [false, true] {
                try await browser.show(as: .init(width: 360, isDark: isDark))
                for (name, question) in [("plain", ConsentPageTests.question), ("client", Self.client)] {
                    try await ConsentPageTests().run(question) { page in
                        try await browser.open(page.url)
                        try await browser.click(browser.find("summary"))
                        let facts = try #require(try await browser.evaluate(ConsentLooks.script).objectValue)
                        let what = Comment(rawValue: "\(name) \(size) \(isDark)")
                        #expect(facts["size"] == .string("\(size)px"), what)
                        #expect(facts["overflow"] == 0 && facts["torn"] == .array([]), what)
                        #expect(facts["controls"] == .integer(Int64(3 + 2)), what)
                        #expect(facts["unseen"] == .array([]) && facts["faint"] == .array([]), what)
                        #expect(facts["signs"] == 2 && facts["grounds"] == 2, what)
                        if let folder = ProcessInfo.processInfo.environment["BROKER_TEST_SCREENSHOTS"] {
                            try await browser.screenshot().write(
                                to: URL(filePath: "\(folder)/consent-\(name)-\(size)-\(isDark ? "dark" : "light").png"))
                        }
                    }
                }
            }
            // On the last page: proves that violations would be reported.
            let spoiled = """
                document.querySelector(".allow").style.border = "2px solid \(Self.almost)";
                document.querySelector("h1").style.inlineSize = "3ch";
                document.querySelector("h1").style.overflowWrap = "anywhere";
                \(ConsentLooks.script)
                """
            try await ConsentPageTests().run { page in
                try await browser.open(page.url)
                let facts = try #require(try await browser.evaluate(spoiled).objectValue)
                #expect(facts["unseen"]?.arrayValue?.count == 1)
                #expect(facts["torn"]?.arrayValue?.contains("accounts") == true, "\(facts)")
            }
        }
    }

    /// The dark page's card.
    private static let almost = "#1b2028"

    @Test("F5 shows the question again and its answer counts, but another visitor withdraws it")
    func reload() async throws {
        try await withTestBed { bed in
            let browser = try await HeadlessBrowser.start(in: bed)
            try await ConsentPageTests().run { page in
                try await browser.open(page.url)
                try await browser.reload()
                try await browser.findHeading("Let this program use your accounts?")
                try await browser.devTools("Page.reload", ["ignoreCache": true])
                try await browser.findHeading("Let this program use your accounts?")
                try await browser.click(browser.findButton("Allow"))
                try await browser.findHeading("Allowed")
                #expect(page.answers.all == [.allowed(lifetime: 12 * 3600)])
            }
            try await ConsentPageTests().run { page in
                try await browser.open(page.url)
                let address = try await browser.url
                #expect(address != page.url)
                #expect(try await page.load(address, cookie: "").body.contains("opened twice"))
                try await browser.reload()
                try await browser.findHeading("This page was opened twice")
                #expect(page.answers.all.isEmpty)
            }
        }
    }

    @Test("the question's buttons answer it", arguments: [("Allow", "Allowed"), ("Deny", "Denied")])
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

private enum ConsentLooks {
    /// Inspects the rendered question. `torn` lists words of up to twelve letters that are broken across lines, `unseen` controls
    /// whose border and ground are both below 3 to 1 against their surroundings (WCAG 2.2, 1.4.11), `faint` words on controls
    /// below 4.5 to 1.
    static let script = """
        \(ColorContrast.script)
        const torn = [];
        const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
        for (let node = texts.nextNode(); node; node = texts.nextNode()) {
          for (const word of node.data.matchAll(/[\\p{L}\\p{N}’]+/gu)) {
            if (word[0].length > 12) continue;
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
            if (lines.size > 1) torn.push(word[0]);
          }
        }
        const controls = [...document.querySelectorAll("button, input[type=radio]")];
        const unseen = controls.filter((control) => {
          const around = ground(control.parentElement);
          const style = getComputedStyle(control);
          const border = parseFloat(style.borderTopWidth) >= 1 ? ratio(parse(style.borderTopColor), around) : 1;
          return Math.max(border, ratio(ground(control), around)) < 3;
        });
        const buttons = [...document.querySelectorAll("button")];
        return {
          size: getComputedStyle(document.documentElement).fontSize,
          overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
          torn,
          controls: controls.length,
          unseen: unseen.map((control) => control.outerHTML),
          faint: [...buttons, ...document.querySelectorAll("label, legend, summary, dt, dd, li")]
            .filter((element) => ratio(parse(getComputedStyle(element).color), ground(element)) < 4.5)
            .map((element) => element.outerHTML),
          signs: new Set(buttons.map((button) => button.querySelector("svg path")?.getAttribute("d"))).size,
          grounds: new Set(buttons.map((button) => getComputedStyle(button).backgroundColor)).size,
        };
        """
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
