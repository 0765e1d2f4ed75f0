import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The result of one check of `brokerctl doctor`.
package struct CheckResult: Sendable, Equatable {
    package enum Verdict: String, Sendable {
        case good
        /// It works, or may be intended.
        case note
        case bad
    }

    package var subject: String
    package var verdict: Verdict
    /// One sentence.
    package var text: String
    /// The command or action that helps.
    package var advice: String?

    package init(_ subject: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
        self.subject = subject
        self.verdict = verdict
        self.text = text
        self.advice = advice
    }
}

package enum CheckResultsText {
    package static func text(_ findings: [CheckResult], in layout: Layout = .plain) -> String {
        let names = findings.map { finding in
            let mark =
                switch finding.verdict {
                case .good: "ok  "
                case .note: layout.style.strong("note")
                case .bad: layout.style.alarm("BAD ")
                }
            return mark + "  " + finding.subject
        }
        let width = names.map(\.columns).max() ?? 0
        return zip(names, findings).flatMap { name, finding in
            layout.entry(name, width: width, [finding.text.clean] + (finding.advice.map { ["-> " + $0.clean] } ?? []))
        }.map { $0 + "\n" }.joined()
    }

    static func json(_ findings: [CheckResult]) -> JSONNode {
        let list: [JSONValue] = findings.map { finding in
            var object: JSONObject = [
                "subject": .string(finding.subject), "verdict": .string(finding.verdict.rawValue),
                "text": .string(finding.text),
            ]
            object["advice"] = finding.advice.map { .string($0) }
            return .object(object)
        }
        let value: JSONValue = ["findings": .array(list)]
        return JSONText.node(of: value)
    }
}
