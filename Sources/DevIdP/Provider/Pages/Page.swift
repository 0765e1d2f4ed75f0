import FoundationEssentials

/// A page of this provider: self-contained, without scripts.
struct Page: Sendable {
    let title: String
    /// Markup; external input is escaped where it is inserted.
    let content: String

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>\(escaped(title)) · Development sign-in</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <p class="notice" role="note">\(escaped(DevIdentityProvider.warning))</p>
        <main>
        <h1>\(escaped(title))</h1>
        \(content)
        </main>
        </body>
        </html>
        """
    }

    /// `form-action` is not set: Chromium applies it to the redirect after a form, which leads to the app.
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'sha256-\(Digest.sha256.of(style.utf8).base64EncodedString())'; "
        + "base-uri 'none'; frame-ancestors 'none'"
}

func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
        switch character {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "'": result += "&#39;"
        default: result.append(character)
        }
    }
}
