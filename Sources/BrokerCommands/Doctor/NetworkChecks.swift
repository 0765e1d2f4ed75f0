import BrokerRPC

/// Whether this machine reaches the providers of the registered apps.
enum NetworkChecks {
    /// The maximum number of providers to ask.
    private static let most = 8

    /// A curl command that asks each provider's host once; `nil` if no app has one.
    static func command(for apps: [App], caFile: String?) -> [String]? {
        let places = Set(apps.compactMap { origin(of: $0.authority) }).sorted().prefix(most)
        guard !places.isEmpty else { return nil }
        // The user's .curlrc is not read: it may redirect the output.
        var words = ["curl", "--disable", "--silent", "--parallel", "--max-time", "5", "--proto", "=https,http"]
        words += ["--write-out", #"%{exitcode} %{http_code} %{url} %{errormsg}\n"#]
        if let caFile { words += ["--cacert", caFile] }
        return words + places.flatMap { ["--output", "/dev/null", "\($0)/"] }
    }

    private static func origin(of authority: String) -> String? {
        let parts = authority.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "https:" || parts[0] == "http:" else { return nil }
        return "\(parts[0])//\(parts[2])"
    }
}

extension DoctorChecks {
    /// - Parameter report: the output of that curl: for each provider the exit code, the status of the answer, the URL,
    ///   and the error.
    package static func network(_ report: String) -> [CheckResult] {
        report.split(separator: "\n").compactMap { line -> CheckResult? in
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count >= 3, let exit = Int(words[0]), let status = Int(words[1]) else { return nil }
            let place = words[2].prefix(words[2].utf8.count - (words[2].hasSuffix("/") ? 1 : 0))
            let why = words.count > 3 ? String(words[3]).trimmed : ""
            switch exit {
            case 0 where status >= 500:
                return CheckResult(
                    "Network", .note, "\(place) answers \(status): the provider has a problem.",
                    advice: "wait; cached tokens still work")
            case 0: return CheckResult("Network", .good, "\(place) answers.")
            case 60:
                return CheckResult(
                    "Network", .note, "\(place) has a certificate that curl does not trust.",
                    advice: "set oauth.ca_file, if it is from your own CA")
            default:
                return CheckResult(
                    "Network", .bad, "\(place) cannot be reached\(why.isEmpty ? "" : ": \(why)").",
                    advice: "check the network, the name server and the broker's proxy settings")
            }
        }
    }
}
