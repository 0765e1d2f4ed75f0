extension Page {
    static func failure(_ message: String) -> Page {
        Page(
            title: "This does not work",
            content: """
                <p class="alert" role="alert">\(escaped(message))</p>
                <p>The app that sent you here has to be corrected. You can close this page.</p>
                """)
    }

    static func confirmSignOut(action: String, fields: [(String, String)]) -> Page {
        Page(
            title: "Sign out?",
            content: """
                <p>This signs you out here, for every app.</p>
                \(form(to: action, fields, button: "Sign out"))
                """)
    }

    /// OAuth 2.0 Form Post Response Mode, section 2. Other providers send the form by a script; this one has none.
    static func handBack(to uri: String, fields: [(String, String)]) -> Page {
        Page(
            title: "Back to the app",
            content: """
                <p>You are signed in here. The app gets to know it now.</p>
                \(form(to: uri, fields, button: "Continue"))
                """)
    }

    private static func form(to action: String, _ fields: [(String, String)], button: String) -> String {
        let hidden = fields.map { name, value in
            "<input type=\"hidden\" name=\"\(escaped(name))\" value=\"\(escaped(value))\">"
        }
        return """
            <form method="post" action="\(escaped(action))">
            \(hidden.joined(separator: "\n"))
            <button type="submit">\(button)</button>
            </form>
            """
    }

    static let signedOut = Page(title: "You are signed out", content: "<p>You can close this page.</p>")
}
