import BrokerValues

extension DoctorChecks {
    /// What git's configuration does with the tokens that it gets from the broker.
    ///
    /// - Parameter entries: `git config --get-regexp '^credential\.(.*\.)?helper$'`, a key and its value in each line; nil
    ///   where git has none, or is not there.
    /// - Returns: nil when git does not ask the broker.
    package static func git(_ entries: String?) -> CheckResult? {
        let helpers = (entries ?? "").split(separator: "\n").map(GitHelper.init)
        let ours = helpers.filter(\.isOurs)
        guard !ours.isEmpty else { return nil }
        if ours.contains(where: { $0.isForEveryHost && !$0.value.holds("--host") }) {
            return CheckResult(
                "git", .note, "Every host that a repository names is given a token: the helper is set for all of them.",
                advice: "set it for one: git config --global credential.https://HOST.helper, or add --host HOST to it")
        }
        for key in Set(ours.map(\.key)).sorted() {
            // Git asks the helpers for every host first; an empty one takes away those before it.
            let asked = helpers.filter { $0.isForEveryHost || $0.key == key }
                .reduce(into: [GitHelper]()) { $1.value.isEmpty ? $0.removeAll() : $0.append($1) }
            if let other = asked.first(where: { !$0.isOurs }) {
                return CheckResult(
                    "git", .note,
                    "Another helper (\(other.value)) is given the broker's token as well, and may keep it.",
                    advice: "put an empty one before the broker's: brokerctl help git-credential shows the lines")
            }
        }
        return CheckResult("git", .good, "It has tokens from the broker, and nobody else keeps them.")
    }

    private struct GitHelper {
        let key: String
        let value: String

        init(_ line: Substring) {
            let end = line.firstIndex(of: " ") ?? line.endIndex
            key = String(line[..<end])
            value = String(line[end...]).trimmed
        }

        var isForEveryHost: Bool { key == "credential.helper" }

        /// By its short name, or by a path.
        var isOurs: Bool {
            let program = value.prefix { $0 != " " }
            return program == "broker" || program.hasSuffix("git-credential-broker")
        }
    }
}
