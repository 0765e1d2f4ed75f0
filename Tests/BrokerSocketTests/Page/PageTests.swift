import BrokerModel
import BrokerSocket
import DevIdentityProvider
import Foundation
import Testing

@Suite("The page at the end of a sign-in")
struct PageTests {
    static let all: [RedirectPage] = [
        .signedIn(username: "ada@example.org", app: "mail-app"), .canceled(app: "mail-app"),
        .failed(app: "mail-app", message: "The provider did not answer in time; sign in again."),
        .notAccepted(app: "mail-app", why: "It did not come from the provider that was asked."),
        .signedOut(app: "mail-app"), .notExpected,
    ]

    @Test("each page has one heading, a title, a language and says what to do next", arguments: all)
    func frame(page: RedirectPage) {
        let html = PageTemplate.render(page)
        #expect(html.hasPrefix("<!doctype html>\n<html lang=\"en\">"))
        #expect(html.components(separatedBy: "<h1").count == 2)
        #expect(html.components(separatedBy: "<main").count == 2)
        #expect(html.contains("<title>"))
        #expect(html.contains("close this tab"))
        if page != .notExpected { #expect(html.contains("return to <bdi>mail-app</bdi>")) }
    }

    @Test("the page for a canceled sign-in says that nothing was changed")
    func canceled() {
        let html = PageTemplate.render(.canceled(app: "mail-app"))
        #expect(html.contains("Nothing was changed, and <bdi>mail-app</bdi> was not given access."))
    }

    @Test("a page needs no external resources", arguments: all)
    func selfContained(page: RedirectPage) {
        let html = PageTemplate.render(page)
        for reference in ["http://", "https://", "src=", "url(", "@import", "<a ", "<form", "style=", "onload"] {
            #expect(!html.contains(reference), "\(reference)")
        }
    }

    @Test("the policy allows exactly the page's own style and script")
    func hashes() {
        func hash(_ text: String) -> String { Digest.sha256.of(text.utf8).base64EncodedString() }
        let html = PageTemplate.render(.notExpected)
        #expect(html.contains("<style>\(PageStyle.sheet)</style>"))
        #expect(html.contains("<script>\(PageTemplate.script)</script>"))
        #expect(
            PageTemplate.contentSecurityPolicy
                == "default-src 'none'; style-src 'sha256-\(hash(PageStyle.sheet))'; "
                + "script-src 'sha256-\(hash(PageTemplate.script))'; img-src data:; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
    }

    @Test("markup in a username, an app's name or a message is shown, not interpreted")
    func escaping() {
        let attack = "</title></style><script>alert('1')</script><img src=x onerror=\"x\">&amp;"
        let shown = "&lt;/title&gt;&lt;/style&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"
        for page in [
            RedirectPage.signedIn(username: attack, app: "a"), .signedIn(username: "u", app: attack),
            .canceled(app: attack), .failed(app: attack, message: "m"), .failed(app: "a", message: attack),
            .notAccepted(app: attack, why: "w"), .notAccepted(app: "a", why: attack), .canceled(app: "a", said: attack),
            .failed(app: "a", message: "m", said: attack), .failed(app: "a", message: "m", correlationID: attack),
        ] {
            let html = PageTemplate.render(page)
            #expect(html.contains(shown))
            #expect(html.components(separatedBy: "<script>").count == 2)
            #expect(!html.contains("<img"))
            #expect(!html.contains("\"x\""))
        }
    }

    @Test("the page shows the provider's own reason and the correlation id if they exist")
    func reason() {
        let html = PageTemplate.render(
            .failed(app: "a", message: "It failed.", said: "access_denied, AADSTS50105: Ask Ann.", correlationID: "c-1")
        )
        #expect(html.contains("The provider said: <bdi>access_denied, AADSTS50105: Ask Ann.</bdi>"))
        #expect(html.contains("Correlation id: <bdi>c-1</bdi>"))
        let plain = PageTemplate.render(.failed(app: "a", message: "It failed."))
        #expect(!plain.contains("The provider said") && !plain.contains("Correlation id"))
        let long = PageTemplate.render(.canceled(app: "a", said: String(repeating: "m", count: 100_000)))
        #expect(long.utf8.count < 20_000)
    }

    @Test("characters that turn or hide text are replaced, and letters of all scripts stay")
    func bidi() {
        let controls = [
            "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
            "\u{200E}", "\u{200F}", "\u{061C}", "\u{200B}", "\u{2060}", "\u{FEFF}", "\u{0}", "\u{7}", "\u{7F}",
            "\u{85}",
            "\u{2028}", "\u{2029}", "\u{E0041}", "\u{E000}",
        ]
        for control in controls {
            let html = PageTemplate.render(.signedIn(username: "a\(control)b", app: "app"))
            #expect(
                html.contains("<bdi>a\u{FFFD}b</bdi>"), "U+\(String(control.unicodeScalars.first!.value, radix: 16))")
        }
        #expect(PageTemplate.render(.canceled(app: "a\r\nb\tc")).contains("<bdi>a  b c</bdi>"))
        for name in ["Łukasz", "عائشة", "田中さん", "क्ष", "👩💻"] {
            #expect(PageTemplate.render(.signedIn(username: name, app: "app")).contains("<bdi>\(name)</bdi>"))
        }
    }

    @Test("an endless text is cut, and an empty one is replaced by the broker's own")
    func lengths() {
        let long = PageTemplate.render(.failed(app: "a", message: String(repeating: "m", count: 100_000)))
        #expect(long.contains("mmm…</bdi>"))
        #expect(long.utf8.count < 20_000)
        let marks = PageTemplate.render(
            .signedIn(username: "a" + String(repeating: "\u{0301}", count: 100_000), app: "b"))
        #expect(marks.utf8.count < 20_000)
        #expect(PageTemplate.render(.canceled(app: " \t")).contains("return to <bdi>your app</bdi>"))
        #expect(!PageTemplate.render(.signedIn(username: "", app: "a")).contains("Account"))
        #expect(PageTemplate.render(.failed(app: "a", message: "")).contains("The reason is not known."))
    }
}
