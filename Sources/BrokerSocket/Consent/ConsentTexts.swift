import BrokerModel
import BrokerValues

/// The texts of a question as shown on its page. If one had to be cut, allowing is not offered.
struct ConsentTexts {
    struct Request {
        /// The app's name, or the client id if it has no registration.
        let name: SafeText
        let isClient: Bool
        /// The end of the authority's host, and the whole authority; `nil` if unknown.
        let place: (domain: SafeText, authority: SafeText)?
        /// `nil` for every account.
        let account: SafeText?
        /// The owners of these accounts at the moment.
        let people: [SafeText]
        /// `nil` for everything that the app may have.
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
