extension Page {
    /// The page on which a person types the code that a device shows.
    static func enterCode(action: String, typed: String = "", alert: String? = nil) -> Page {
        Page(
            title: "Connect a device",
            content: """
                <p>Type the code that your device shows.</p>
                \(notice(alert))
                <form method="post" action="\(escaped(action))/device">
                <label for="user_code">Code</label>
                <input class="code" id="user_code" name="user_code" value="\(escaped(typed))" autocomplete="off"\
                 autocapitalize="characters" spellcheck="false" placeholder="XXXX-XXXX" maxlength="16" required\
                 autofocus>
                <button type="submit">Next</button>
                </form>
                """)
    }

    static func deviceDone(app: String) -> Page {
        Page(
            title: "Your device is connected",
            content: "<p><strong>\(escaped(app))</strong> goes on there. You can close this page.</p>")
    }

    static let deviceDenied = Page(
        title: "Your device was not connected",
        content: "<p>It gets no access, and an error. You can close this page.</p>")
}
