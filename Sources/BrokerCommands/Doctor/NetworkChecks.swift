import BrokerRPC

/// Whether the providers of the registered apps can be reached from here.
enum NetworkChecks {
    /// More are not asked.
    private static let most = 8

    /// A curl that asks each provider's host once; nil where no app has one.
    static func command(for apps: [App], caFile: String?) -> [String]? {
        let places = Set(apps.compactMap { origin(of: $0.authority) }).sorted().prefix(most)
        guard !places.isEmpty else { return nil }
        // A person's .curlrc is not read: it may have all of it written somewhere.
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
    /// - Parameter report: what such a curl printed: for each provider its exit code, the status of the answer, the address,
    ///   and what was wrong.
    package static func network(_ report: String) -> [CheckResult] {
        report.split(separator: "\n").compactMap { line -> CheckResult? in
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard words.count >= 3, let exit = Int(words[0]), let status = Int(words[1]) else { return nil }
            let place = words[2].prefix(words[2].utf8.count - (words[2].hasSuffix("/") ? 1 : 0))
            let why = words.count > 3 ? String(words[3]).trimmed : ""
            switch exit {
            case 0 where status >= 500:
                return CheckResult(
                    "Network", .note, "\(place) answers \(status): it is in trouble itself.",
                    advice: "wait; what is cached goes on")
            case 0: return CheckResult("Network", .good, "\(place) answers.")
            case 60:
                return CheckResult(
                    "Network", .note, "\(place) has a certificate that curl does not trust.",
                    advice: "set oauth.ca_file, if it is of an authority of your own")
            default:
                return CheckResult(
                    "Network", .bad, "\(place) cannot be reached\(why.isEmpty ? "" : ": \(why)").",
                    advice: "look at the network, the name server, and a proxy that the broker has to know")
            }
        }
    }
}
