import BrokerModel
import BrokerValues

/// The texts of a question as its page shows them. Where one had to be cut, nobody is offered to allow it.
struct ConsentTexts {
    struct Request {
        /// The app's name; of a client without a registration its id.
        let name: SafeText
        let isClient: Bool
        /// The end of the authority's host, and all of the authority; nil where nobody knows it.
        let place: (domain: SafeText, authority: SafeText)?
        /// Nil for every account.
        let account: SafeText?
        /// Whose accounts these are at the moment.
        let people: [SafeText]
        /// Nil for everything that the app may.
        let scopes: SafeText?
    }

    let caller: SafeText
    let requests: [Request]
    let facts: [(name: SafeText, value: SafeText)]
    let areWhole: Bool

    init(_ question: ConsentQuestion) {
        var isCut = false
        func shown(
            _ text: String, atMost length: Int = QuestionLimits.onPage, otherwise fallback: String = ""
        ) -> SafeText {
            let text = SafeText(onPage: text, atMost: length, otherwise: fallback)
            if text.isCut { isCut = true }
            return text
        }
        caller = shown(question.caller.id, otherwise: "a program without a name")
        requests = question.requests.map { request in
            Request(
                name: shown(request.clientID ?? request.app, otherwise: "an app without a name"),
                isClient: request.clientID != nil,
                place: request.authority.map { (shown(WebURL($0)?.domain ?? $0), shown($0)) },
                account: request.account.map { shown($0) }, people: request.people.map { shown($0) },
                scopes: request.scopes.map {
                    shown($0.joined(separator: ", "), atMost: QuestionLimits.scopeBytes, otherwise: "who you are")
                })
        }
        facts = question.facts.sorted { $0.key < $1.key }.map { (shown($0), shown($1)) }
        areWhole = !isCut
    }
}
