import BrokerModel
import BrokerValues

/// The page that asks a person whether a program may use apps: the program, how it is known, for what, for how long.
enum ConsentTemplate {
    /// No script, no external resources, no frame; the form goes back to its origin.
    static let contentSecurityPolicy = [
        "default-src 'none'",
        "style-src 'sha256-\(PageStyle.hash)' 'sha256-\(ConsentStyle.hash)'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    static func render(_ question: ConsentQuestion, path: String, token: String) -> String {
        // With "no-referrer" browsers send "Origin: null" even with the page's own form.
        PageTemplate.document(
            .asked, title: "A program asks for access", referrer: "same-origin",
            sheets: [PageStyle.sheet, ConsentStyle.sheet], main: main(question, path, token), script: nil
        ).source
    }

    private static func main(_ question: ConsentQuestion, _ path: String, _ token: String) -> HTML {
        let texts = ConsentTexts(question)
        return """
            \(PageTemplate.icon(.asked))
            <h1 id="heading">Let this program use your accounts?</h1>
            <div class="box"><bdi class="caller">\(name: texts.caller)</bdi>
            <p class="known">\(how(question.caller))</p></div>
            <div class="box"><ul class="requests">
            \(texts.requests.map(request).joined())</ul></div>
            <form method="post" action="\(verbatim: path)" autocomplete="off">
            <input type="hidden" name="token" value="\(verbatim: token)">
            \(texts.areWhole ? choice(question.caller) : refusal)
            </form>
            <details><summary>What the broker judged it by</summary><dl>
            \(texts.facts.map(FactDescriptions.entry).joined())</dl></details>
            """
    }

    private static func choice(_ caller: CallerIdentity) -> HTML {
        """
        <fieldset><legend>If you allow it</legend>
        \(terms(caller).joined())</fieldset>
        <div class="choice">\(deny)\
        <button class="allow" name="answer" value="allow">\(PageTemplate.sign(.good))Allow</button></div>
        """
    }

    private static let refusal: HTML = """
        <p class="known">It is too long to be shown whole, so it cannot be allowed here. \
        To see all of it: <b>brokerctl grants list</b></p>
        <div class="choice">\(deny)</div>
        """

    /// The answer that is safe in doubt stands out; a sign distinguishes the two without colours.
    private static let deny: HTML = """
        <button class="deny" name="answer" value="deny">\(PageTemplate.sign(.neutral))Deny</button>
        """

    /// How certain the program's name is.
    private static func how(_ caller: CallerIdentity) -> HTML {
        switch caller.tier {
        case .sandboxed where caller.isUnnamedSandbox:
            "A program in a sandbox or container that has no name. Others that were started from the same place look the same."
        case .sandboxed: "A sandboxed app. Its name was confirmed from outside of the sandbox."
        case .confined: "A program that the system confines. The name is its profile’s."
        case .systemInstalled: "A program of the system: only an administrator can change it."
        case .unknown: "A program of yours. Any other program of yours could pass for it."
        case .unidentified: "This program could not be identified."
        }
    }

    private static func request(_ request: ConsentTexts.Request) -> HTML {
        let scopes = request.scopes.map { scopes -> HTML in "Tokens for: <bdi>\(name: scopes)</bdi>" }
        let account = request.account.map { account -> HTML in "As <b><bdi>\(name: account)</bdi></b>" }
        return """
            <li>\(what(request))
            <span class="whose">\(account ?? everybody(request.people))</span>
            <span class="scopes">\(scopes ?? "Everything that the app may")</span></li>

            """
    }

    private static func everybody(_ people: [SafeText]) -> HTML {
        guard !people.isEmpty else { return "With every account it has; nobody is signed in yet" }
        let names = people.map { person -> HTML in "<b><bdi>\(name: person)</bdi></b>" }
        return "With every account it has: \(names.joined(by: ", "))"
    }

    /// The domain first: the tokens' provider matters more than the name that the program uses there.
    private static func what(_ request: ConsentTexts.Request) -> HTML {
        let at = request.place.map { place -> HTML in
            " at <b><bdi>\(name: place.domain)</bdi></b> (<bdi>\(name: place.authority)</bdi>)"
        }
        guard request.isClient else { return "Use <b><bdi>\(name: request.name)</bdi></b>\(at ?? "")" }
        return "Get tokens\(at ?? "") under a client id of its choice, <bdi>\(name: request.name)</bdi>"
    }

    private static func terms(_ caller: CallerIdentity) -> [HTML] {
        let offered = GrantTerm.offered(to: caller)
        return offered.map { term in
            let checked: HTML = term == offered.first ? " checked" : ""
            return """
                <label><input type="radio" name="for" value="\(verbatim: term.rawValue)"\(checked)>\(words(term))</label>

                """
        }
    }

    private static func words(_ term: GrantTerm) -> HTML {
        switch term {
        case .today: "for 12 hours"
        case .month: "for 30 days"
        case .always: "until I take it back"
        }
    }
}

extension PageContent {
    init(_ outcome: ConsentOutcome) {
        switch outcome {
        case .allowed:
            self.init(
                tone: .good, title: "Allowed", heading: "Allowed",
                lines: ["To see what you allowed, or to take it back: <b>brokerctl grants list</b>"],
                next: "You can close this tab.")
        case .denied:
            self.init(
                tone: .neutral, title: "Denied", heading: "Denied",
                lines: ["Nothing was allowed, and you are not asked again for a while."],
                next: "You can close this tab.")
        case .failed(let why):
            let why = SafeText(onPage: why, atMost: 300, otherwise: "The reason is not known.")
            self.init(
                tone: .bad, title: "Not answered", heading: "Your answer was not taken",
                lines: ["<bdi>\(text: why)</bdi>"],
                next: "You can close this tab. To see who waits for an answer: <b>brokerctl grants list</b>")
        }
    }

    /// Another program had the page as well.
    static let openedTwice = PageContent(
        tone: .bad, title: "Opened twice", heading: "This page was opened twice",
        lines: [
            "If you did not do that, another program on this computer may have looked at it. Nothing was allowed by this page now."
        ],
        next: "You can close this tab. To decide safely: <b>brokerctl grants list</b>")
}

extension RedirectResponse {
    /// The response to the address that the browser was started with.
    init(entering page: String, _ cookie: String) {
        self.init(refused: .seeOther)
        headers.add(name: "location", value: page)
        headers.add(name: "set-cookie", value: cookie)
    }

    /// The question itself.
    init(asking page: String) {
        self.init(page: page, policy: ConsentTemplate.contentSecurityPolicy, referrer: "same-origin")
    }

    /// The result.
    init(showing content: PageContent) {
        self.init(
            page: PageTemplate.render(content), policy: PageTemplate.contentSecurityPolicy, referrer: "no-referrer")
    }
}
