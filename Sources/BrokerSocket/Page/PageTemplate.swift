import BrokerModel
import BrokerValues

/// The page for a person whose browser comes back from the provider: one document that needs nothing else.
package enum PageTemplate {
    /// Takes the code and the state out of the address bar and the history entry.
    ///
    /// The alternative, a redirect to a clean address, would need the listener to outlive the sign-in and would show a browser's
    /// error page otherwise. The code is used up by the time the page is shown, so a browser without scripts only has a longer
    /// address in its address bar.
    package static let script = "history.replaceState(null,\"\",location.pathname)"

    /// Only these two texts are allowed, named by their SHA-256 (CSP level 3, section 2.3.1): no script or style that got into
    /// the page in another way would run. The icon is the only image.
    package static let contentSecurityPolicy = [
        "default-src 'none'",
        "style-src 'sha256-\(PageStyle.hash)'",
        "script-src 'sha256-\(scriptHash)'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static let scriptHash = "8A+3er73YJf04rRHGhbZwZQACPiiipi9EPduIeAAIDk="

    package static func render(_ page: RedirectPage) -> String { render(PageContent(page)) }

    static func render(_ content: PageContent) -> String {
        document(
            content.tone, title: content.title, referrer: "no-referrer", sheets: [PageStyle.sheet],
            main: """
                \(icon(content.tone))
                <h1 id="heading">\(content.heading)</h1>
                \(content.lines.map(paragraph).joined())\(content.username.map(account) ?? "")
                <p class="next">\(content.next)</p>
                """, script: "<script>\(verbatim: script)</script>\n"
        ).source
    }

    /// The common parts of all pages.
    static func document(
        _ tone: PageContent.Tone, title: HTML, referrer: HTML, sheets: [String], main: HTML, script: HTML?
    ) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="\(referrer)">
        <title>\(title)</title>
        <link rel="icon" href="\(favicon(tone))">
        \(sheets.map { "<style>\(verbatim: $0)</style>\n" }.joined())</head>
        <body class="\(className(tone))">
        <main aria-labelledby="heading">
        \(main)
        </main>
        <footer><p>Shown by the token broker on your computer</p></footer>
        \(script ?? "")</body>
        </html>

        """
    }

    private static func paragraph(_ line: HTML) -> HTML {
        "<p class=\"line\">\(line)</p>\n"
    }

    private static func account(_ username: SafeText) -> HTML {
        let initial = SafeText(onPage: username.text.prefix(1).uppercased(), atMost: 2)
        return """
            <p class="account"><span class="initial" aria-hidden="true">\(text: initial)</span>\
            <span class="who"><span class="label">Account</span> <bdi>\(text: username)</bdi></span></p>

            """
    }

    private static func className(_ tone: PageContent.Tone) -> HTML {
        switch tone {
        case .good: "good"
        case .neutral: "neutral"
        case .bad: "bad"
        case .lost: "lost"
        case .asked: "asked"
        }
    }

    static func icon(_ tone: PageContent.Tone) -> HTML {
        """
        <svg class="icon" viewBox="0 0 64 64" width="64" height="64" aria-hidden="true" focusable="false">\
        <circle class="disc" cx="32" cy="32" r="31"/><path class="mark" d="\(shape(tone))"/></svg>
        """
    }

    /// For a button, next to its text.
    static func sign(_ tone: PageContent.Tone) -> HTML {
        """
        <svg viewBox="14 14 36 36" width="20" height="20" aria-hidden="true" focusable="false">\
        <path class="mark" d="\(shape(tone))"/></svg>
        """
    }

    private static func shape(_ tone: PageContent.Tone) -> HTML {
        switch tone {
        case .good: "M20 33.5l8.5 8.5L45 24"
        case .neutral: "M23 23l18 18M41 23L23 41"
        case .bad: "M32 18v18M32 45v.5"
        case .lost: "M32 19v14l9 6"
        // A key.
        case .asked: "M18 39a7 7 0 1 0 14 0a7 7 0 1 0-14 0M30 34L45 19M39 25l5 5"
        }
    }

    /// Distinguishes the tab from others, and keeps browsers from requesting an icon from the listener.
    private static func favicon(_ tone: PageContent.Tone) -> HTML {
        let colour =
            switch tone {
            case .good: "#16794a"
            case .neutral: "#5b6472"
            case .bad: "#b3261e"
            case .lost, .asked: "#2b5fa8"
            }
        let picture = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><circle cx="32" cy="32" r="32" fill="\(colour)"/>\
            <path d="\(shape(tone).source)" fill="none" stroke="#fff" stroke-width="7" stroke-linecap="round" \
            stroke-linejoin="round"/></svg>
            """
        return "data:image/svg+xml;base64,\(verbatim: Base64.encode(picture.utf8))"
    }
}
