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
        let hidden = fields.map { name, value in
            "<input type=\"hidden\" name=\"\(escaped(name))\" value=\"\(escaped(value))\">"
        }
        return Page(
            title: "Sign out?",
            content: """
                <p>This signs you out here, for every app.</p>
                <form method="post" action="\(escaped(action))">
                \(hidden.joined(separator: "\n"))
                <button type="submit">Sign out</button>
                </form>
                """)
    }

    static let signedOut = Page(title: "You are signed out", content: "<p>You can close this page.</p>")
}
