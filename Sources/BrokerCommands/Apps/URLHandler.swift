import BrokerCommandLine
import BrokerValues

/// Makes the desktop start `brokerctl handle-redirect` for an app's own scheme: a desktop entry, and a line in
/// `mimeapps.list` (Desktop Entry Specification 1.5; MIME Application Associations 1.0.1). Pure.
package struct URLHandler: Sendable, Equatable {
    package let app: String
    /// In lower case.
    package let scheme: String

    /// - Returns: `nil` if the URI's scheme is not private to an app. Such a scheme contains a dot (RFC 8252, section 7.1),
    ///   so registering an app cannot take over `https` or `mailto`.
    package init?(app: String, redirectURI: String) {
        guard let colon = redirectURI.firstIndex(of: ":") else { return nil }
        let scheme = redirectURI[..<colon].lowercased()
        let isScheme = scheme.utf8.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
        guard isScheme, scheme.first?.isLetter == true, scheme.contains("."), scheme.utf8.count <= 200 else {
            return nil
        }
        self.app = app
        self.scheme = scheme
    }

    package var mimeType: String { "x-scheme-handler/\(scheme)" }

    /// The app's name, with bytes that file names and lists do not allow escaped, so that two apps never share an entry.
    package static func desktopID(of app: String) -> String {
        let name = app.utf8.map { byte in
            byte.isASCIILetterOrDigit || "-.".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16)
        }
        return "brokerd-\(name.joined()).desktop"
    }

    /// - Parameter command: brokerctl and its options before the subcommand.
    package func desktopEntry(command: [String]) -> String {
        """
        [Desktop Entry]
        Type=Application
        Name=\(HandOver.desktopString("Sign-in to \(app.clean)"))
        Exec=\(command.map(HandOver.desktopWord).joined(separator: " ")) handle-redirect %u
        MimeType=\(mimeType);
        NoDisplay=true
        Terminal=false
        StartupNotify=false

        """
    }
}

/// Edits one line of `mimeapps.list` and keeps all others.
package enum MimeApplications {
    private static let group = "[Default Applications]"

    /// Puts the entry before the existing ones.
    package static func adding(_ entry: String, for type: String, to text: String) -> String {
        var lines = text.fileLines
        if let line = line(of: type, in: lines) {
            let others = entries(lines[line], of: type).filter { $0 != entry }
            lines[line] = "\(type)=" + ([entry] + others).map { "\($0);" }.joined()
        } else if let header = lines.firstIndex(where: { $0.trimmed == group }) {
            lines.insert("\(type)=\(entry);", at: header + 1)
        } else {
            if let last = lines.last, !last.trimmed.isEmpty { lines.append("") }
            lines += [group, "\(type)=\(entry);"]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Removes the entry wherever it is a default.
    package static func removing(_ entry: String, from text: String) -> String {
        var inGroup = false
        let kept = text.fileLines.compactMap { line -> String? in
            if line.trimmed.hasPrefix("[") { inGroup = line.trimmed == group }
            guard inGroup, let equals = line.firstIndex(of: "=") else { return line }
            let type = String(line[..<equals]).trimmed
            let all = entries(line, of: type)
            guard all.contains(entry) else { return line }
            let others = all.filter { $0 != entry }
            return others.isEmpty ? nil : "\(type)=" + others.map { "\($0);" }.joined()
        }
        return kept.map { $0 + "\n" }.joined()
    }

    private static func line(of type: String, in lines: [String]) -> Int? {
        var inGroup = false
        for (index, line) in lines.enumerated() {
            if line.trimmed.hasPrefix("[") { inGroup = line.trimmed == group }
            guard inGroup, let equals = line.firstIndex(of: "=") else { continue }
            if String(line[..<equals]).trimmed == type { return index }
        }
        return nil
    }

    private static func entries(_ line: String, of type: String) -> [String] {
        guard let equals = line.firstIndex(of: "=") else { return [] }
        return line[line.index(after: equals)...].split(separator: ";").map { String($0).trimmed }
            .filter { !$0.isEmpty }
    }
}
