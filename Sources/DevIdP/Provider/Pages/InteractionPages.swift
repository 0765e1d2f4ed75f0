/// The common part of a sign-in's forms.
struct InteractionForm: Sendable {
    let app: String
    /// The prefix of the forms' URLs.
    let action: String
    let transaction: String

    /// The head of a form, up to its fields.
    func open(_ path: String) -> String {
        """
        <form method="post" action="\(escaped(action))/\(path)">
        <input type="hidden" name="transaction" value="\(escaped(transaction))">
        """
    }

    var purpose: String { "<p>to continue to <strong>\(escaped(app))</strong></p>" }

    var cancel: String {
        """
        \(open("cancel"))
        <button class="plain" type="submit">Cancel</button>
        </form>
        """
    }
}

extension Page {
    /// - Parameter domain: the organization the app expects the person to belong to (`domain_hint`).
    static func signIn(
        _ form: InteractionForm, username: String?, domain: String? = nil, alert: String? = nil
    ) -> Page {
        // The first empty field gets the focus.
        let (first, second) = username == nil ? (" autofocus", "") : ("", " autofocus")
        let organization = domain.map { "<p>with an account of <strong>\(escaped($0))</strong></p>" } ?? ""
        return Page(
            title: "Sign in",
            content: """
                \(form.purpose)
                \(organization)
                \(notice(alert))
                \(form.open("login"))
                <label for="username">User name</label>
                <input id="username" name="username" value="\(escaped(username ?? ""))" autocomplete="username"\
                 autocapitalize="none" spellcheck="false" required\(first)>
                <label for="password">Password</label>
                <input id="password" name="password" type="password" autocomplete="current-password" required\(second)>
                <button type="submit">Sign in</button>
                </form>
                \(form.cancel)
                """)
    }

    static func create(_ form: InteractionForm, alert: String? = nil) -> Page {
        Page(
            title: "Create an account",
            content: """
                \(form.purpose)
                \(notice(alert))
                \(form.open("create"))
                <label for="name">Your name</label>
                <input id="name" name="name" autocomplete="name" autofocus>
                <label for="username">User name</label>
                <input id="username" name="username" autocomplete="username" autocapitalize="none"\
                 spellcheck="false" required>
                <label for="password">Password</label>
                <input id="password" name="password" type="password" autocomplete="new-password" required>
                <button type="submit">Create</button>
                </form>
                \(form.cancel)
                """)
    }

    static func choose(_ form: InteractionForm, people: [ProviderUser]) -> Page {
        let buttons = people.map { person in
            """
            <button class="person" type="submit" name="account" value="\(escaped(person.username))">\
            \(escaped(person.name))<span>\(escaped(person.email))</span></button>
            """
        }
        return Page(
            title: "Choose an account",
            content: """
                \(form.purpose)
                \(form.open("choose"))
                \(buttons.joined(separator: "\n"))
                <button class="plain" type="submit" name="account" value="">Use another account</button>
                </form>
                \(form.cancel)
                """)
    }

    static func consent(_ form: InteractionForm, username: String, request: AuthorizationRequest) -> Page {
        let choices = request.scopes.filter { $0 != "openid" }.map { scope in
            """
            <label class="choice"><input type="checkbox" name="scope" value="\(escaped(scope))" checked>\
            <span>\(escaped(meaning(of: scope)))</span></label>
            """
        }
        let list = choices.isEmpty ? "" : "<fieldset><legend>It asks to</legend>\(choices.joined())</fieldset>"
        return Page(
            title: "Allow \(form.app)?",
            content: """
                <p><strong>\(escaped(form.app))</strong> wants to sign you in as <strong>\(escaped(username))</strong>.\
                </p>
                \(deviceNote(request.channel))
                \(form.open("consent"))
                \(list)
                <button type="submit" name="decision" value="allow">Allow</button>
                <button class="plain" type="submit" name="decision" value="deny">Do not allow</button>
                </form>
                """)
    }

    /// RFC 8628, section 5.4: the person compares the code, so that an attacker cannot trick them into signing in a
    /// foreign device.
    private static func deviceNote(_ channel: AuthorizationRequest.Channel) -> String {
        guard case .device(let code) = channel else { return "" }
        return """
            <p>It runs on a device that shows this code. Go on only if the device is yours and you began this there.</p>
            <p class="code">\(escaped(code))</p>
            """
    }

    static func notice(_ alert: String?) -> String {
        alert.map { "<p class=\"alert\" role=\"alert\">\(escaped($0))</p>" } ?? ""
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
