import BrokerRPC
import BrokerValues

/// One thing that `brokerctl doctor` looked at.
package struct Finding: Sendable, Equatable {
    package enum Verdict: String, Sendable {
        case good
        /// It works, or may be meant so.
        case note
        case bad
    }

    package var subject: String
    package var verdict: Verdict
    /// One sentence.
    package var text: String
    /// The command that helps, or what to do.
    package var advice: String?

    package init(_ subject: String, _ verdict: Verdict, _ text: String, advice: String? = nil) {
        self.subject = subject
        self.verdict = verdict
        self.text = text
        self.advice = advice
    }
}

enum FindingsText {
    static func text(_ findings: [Finding], _ style: Style) -> String {
        let width = findings.map(\.subject.columns).max() ?? 0
        return findings.map { finding in
            let mark =
                switch finding.verdict {
                case .good: "ok  "
                case .note: style.strong("note")
                case .bad: style.alarm("BAD ")
                }
            let pad = String(repeating: " ", count: width - finding.subject.columns)
            let line = "\(mark)  \(finding.subject)\(pad)  \(finding.text.clean)\n"
            guard let advice = finding.advice else { return line }
            return line + String(repeating: " ", count: width + 8) + "-> \(advice.clean)\n"
        }.joined()
    }

    static func json(_ findings: [Finding]) -> JSONNode {
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
