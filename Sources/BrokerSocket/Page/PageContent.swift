import BrokerModel
import BrokerValues

/// The content of a page, without its style.
struct PageContent: Sendable {
    enum Tone: Sendable, CaseIterable { case good, neutral, bad, lost, asked }

    let tone: Tone
    let title: HTML
    let heading: HTML
    let lines: [HTML]
    /// The account that is signed in now.
    var username: SafeText?
    /// The person's next step.
    let next: HTML
}

extension PageContent {
    init(_ page: RedirectPage) {
        switch page {
        case .signedIn(let username, let app):
            let app = Self.name(of: app)
            let user = SafeText(onPage: username, atMost: 254)
            tone = .good
            title = "Signed in to \(text: app)"
            heading = "You’re signed in"
            lines = []
            self.username = user.text.isEmpty ? nil : user
            next = "You can close this tab and return to <bdi>\(text: app)</bdi>."
        case .canceled(let app, let said):
            let app = Self.name(of: app)
            tone = .neutral
            title = "Sign-in canceled – \(text: app)"
            heading = "Sign-in canceled"
            lines = ["Nothing was changed, and <bdi>\(text: app)</bdi> was not given access."] + Self.said(said)
            next = "You can close this tab and return to <bdi>\(text: app)</bdi>. To try again, sign in from there."
        case .failed(let app, let message, let said, let correlationID):
            let app = Self.name(of: app)
            let message = SafeText(onPage: message, atMost: 600, otherwise: "The reason is not known.")
            tone = .bad
            title = "Sign-in failed – \(text: app)"
            heading = "Sign-in didn’t work"
            lines = ["<bdi>\(text: message)</bdi>"] + Self.said(said) + Self.reference(correlationID)
            next = "You can close this tab and return to <bdi>\(text: app)</bdi> to try again."
        case .signedOut(let app):
            let app = Self.name(of: app)
            tone = .good
            title = "Signed out – \(text: app)"
            heading = "You’re signed out"
            lines = ["The next sign-in asks who you are."]
            next = "You can close this tab and return to <bdi>\(text: app)</bdi>."
        case .notAccepted(let app, let why):
            let app = Self.name(of: app)
            let why = SafeText(onPage: why, atMost: 300, otherwise: "The reason is not known.")
            tone = .bad
            title = "Answer not accepted – \(text: app)"
            heading = "This answer can’t be used"
            lines = ["<bdi>\(text: why)</bdi>", "Nothing was changed, and the sign-in is still waiting."]
            next = """
                You can close this tab and return to <bdi>\(text: app)</bdi> to finish the sign-in or start it again. If this \
                page comes back, do not sign in there.
                """
        case .goesOn:
            tone = .neutral
            title = "The sign-in goes on"
            heading = "The sign-in goes on"
            lines = ["The provider is asked once more, for less."]
            next = "This page leaves by itself. If it does not, start the sign-in again from your app."
        case .notExpected:
            tone = .lost
            title = "No sign-in is waiting"
            heading = "No sign-in is waiting for this page"
            lines = ["It was finished before, took too long, or was not started on this computer. Nothing was changed."]
            next = "You can close this tab. If you were signing in, return to your app and start again."
        }
    }

    /// The provider's own words, with their source.
    private static func said(_ words: String?) -> [HTML] {
        let words = SafeText(onPage: words ?? "", atMost: 700)
        return words.text.isEmpty ? [] : ["The provider said: <bdi>\(text: words)</bdi>"]
    }

    /// The key to the sign-in in the logs of the broker and the provider, for an administrator.
    private static func reference(_ correlationID: String?) -> [HTML] {
        let id = SafeText(onPage: correlationID ?? "", atMost: 100)
        return id.text.isEmpty ? [] : ["Correlation id: <bdi>\(text: id)</bdi>"]
    }

    private static func name(of app: String) -> SafeText {
        SafeText(onPage: app, atMost: 100, otherwise: "your app")
    }
}
