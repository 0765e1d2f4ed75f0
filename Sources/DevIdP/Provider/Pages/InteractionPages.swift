extension Page {
    static func signIn(app: String, action: String, transaction: String, username: String?, failed: Bool) -> Page {
        let alert = failed ? "<p class=\"alert\" role=\"alert\">The user name or the password is wrong.</p>" : ""
        // The first empty field gets the focus.
        let (first, second) = username == nil ? (" autofocus", "") : ("", " autofocus")
        return Page(
            title: "Sign in",
            content: """
                <p>to continue to <strong>\(escaped(app))</strong></p>
                \(alert)
                <form method="post" action="\(escaped(action))/login">
                <input type="hidden" name="transaction" value="\(escaped(transaction))">
                <label for="username">User name</label>
                <input id="username" name="username" value="\(escaped(username ?? ""))" autocomplete="username"\
                 autocapitalize="none" spellcheck="false" required\(first)>
                <label for="password">Password</label>
                <input id="password" name="password" type="password" autocomplete="current-password" required\(second)>
                <button type="submit">Sign in</button>
                </form>
                \(cancelForm(action: action, transaction: transaction))
                """)
    }

    static func choose(app: String, action: String, transaction: String, people: [ProviderUser]) -> Page {
        let buttons = people.map { person in
            """
            <button class="person" type="submit" name="account" value="\(escaped(person.username))">\
            \(escaped(person.name))<span>\(escaped(person.email))</span></button>
            """
        }
        return Page(
            title: "Choose an account",
            content: """
                <p>to continue to <strong>\(escaped(app))</strong></p>
                <form method="post" action="\(escaped(action))/choose">
                <input type="hidden" name="transaction" value="\(escaped(transaction))">
                \(buttons.joined(separator: "\n"))
                <button class="plain" type="submit" name="account" value="">Use another account</button>
                </form>
                \(cancelForm(action: action, transaction: transaction))
                """)
    }

    static func consent(app: String, action: String, transaction: String, username: String, scopes: [String]) -> Page {
        let choices = scopes.filter { $0 != "openid" }.map { scope in
            """
            <label class="choice"><input type="checkbox" name="scope" value="\(escaped(scope))" checked>\
            \(escaped(meaning(of: scope)))</label>
            """
        }
        let list = choices.isEmpty ? "" : "<fieldset><legend>It asks to</legend>\(choices.joined())</fieldset>"
        return Page(
            title: "Allow \(app)?",
            content: """
                <p><strong>\(escaped(app))</strong> wants to sign you in as <strong>\(escaped(username))</strong>.</p>
                <form method="post" action="\(escaped(action))/consent">
                <input type="hidden" name="transaction" value="\(escaped(transaction))">
                \(list)
                <button type="submit" name="decision" value="allow">Allow</button>
                <button class="plain" type="submit" name="decision" value="deny">Do not allow</button>
                </form>
                """)
    }

    private static func cancelForm(action: String, transaction: String) -> String {
        """
        <form method="post" action="\(escaped(action))/cancel">
        <input type="hidden" name="transaction" value="\(escaped(transaction))">
        <button class="plain" type="submit">Cancel</button>
        </form>
        """
    }

    private static func meaning(of scope: String) -> String {
        switch scope {
        case "profile": "see your name"
        case "email": "see your mail address"
        case "offline_access": "stay signed in while you are away"
        default: scope
        }
    }
}
