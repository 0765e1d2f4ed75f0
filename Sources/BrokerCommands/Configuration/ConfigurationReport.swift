import BrokerLink
import BrokerRPC
import BrokerValues

/// One line of the output of `brokerd --check-config`: `name = value  # origin`.
package struct ConfigurationReport {
    package var name: String
    package var value: String
    package var origin: String

    package init?(line: Substring) {
        guard let mark = line.lastRange(ofText: "  # ") else { return nil }
        let setting = line[..<mark.lowerBound]
        origin = String(line[mark.upperBound...])
        let end = Self.endOfName(in: setting)
        name = String(setting[..<end])
        // An app from a file has only a name and an origin.
        value = String(setting[end...].dropFirst(" = ".count))
    }

    /// The first blank after the name. A part of the name may be quoted and then contain blanks.
    private static func endOfName(in setting: Substring) -> Substring.Index {
        var (isQuoted, isEscaped) = (false, false)
        for (index, scalar) in zip(setting.unicodeScalars.indices, setting.unicodeScalars) {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                isQuoted.toggle()
            } else if !isQuoted, scalar == " " {
                return index
            }
        }
        return setting.endIndex
    }

    /// Whether the setting has a value; brokerd prints a placeholder otherwise.
    var isSet: Bool { value != "(not set)" }

    /// Where the value comes from, if that is not this file.
    func otherOrigin(than file: String) -> String? {
        guard origin != "default" else { return nil }
        let place = origin.lastIndex(of: ":").map { String(origin[..<$0]) } ?? origin
        return place.realPath == file.realPath ? nil : origin
    }

    /// - Parameter known: all settings.
    package static func unknown(_ name: String, among known: [String]) -> BrokerClientError {
        let list = "brokerctl config show lists all settings."
        let text =
            if known.contains(where: { $0.hasPrefix(name + ".") }) {
                "\(name) is a table of settings; brokerctl config show \(name) lists them."
            } else {
                "There is no setting \(name)"
                    + (Spelling.closest(to: name, among: known).map { "; did you mean \($0)? Otherwise, \(list)" }
                        ?? "; \(list)")
            }
        return BrokerClientError(.invalidParameter, text)
    }

    /// - Parameter remark: receives mistakes in files of apps, which the daemon ignores.
    static func current(
        of broker: TargetBroker, remark: (String) -> Void = { _ in }
    ) throws(BrokerClientError) -> [ConfigurationReport] {
        guard let report = DaemonProgram.checkConfiguration(of: broker) else { throw noDaemon }
        guard let settings = all(in: report.text) else { throw refused(report.text) }
        if report.status != 0 { report.text.split(separator: "\n").filter(isSaid).forEach { remark(said(by: $0)) } }
        return settings
    }

    /// - Returns: `nil` for a configuration that the daemon rejects. The status does not show this: it also reports a mistake in a file
    ///   of apps, although the daemon accepts the settings.
    package static func all(in text: String) -> [ConfigurationReport]? {
        let settings = text.split(separator: "\n").filter { !isSaid($0) }.compactMap(ConfigurationReport.init)
        return settings.isEmpty ? nil : settings
    }

    /// Whether the line is a message of brokerd.
    private static func isSaid(_ line: Substring) -> Bool { line.hasPrefix(speaker) }
    private static func said(by line: Substring) -> String { String(line.dropFirst(speaker.count)) }
    private static let speaker = "brokerd: "

    static func json(_ settings: [ConfigurationReport]) -> JSONNode {
        let list: [JSONValue] = settings.map {
            ["name": .string($0.name), "value": .string($0.value), "origin": .string($0.origin)]
        }
        return JSONText.node(of: ["settings": .array(list)] as JSONValue)
    }

    static var noDaemon: BrokerClientError {
        BrokerClientError(
            .unsupported, "No brokerd is installed next to this brokerctl to read the configuration; install both.")
    }

    /// The message that gives the mistake and its place.
    static func refused(_ text: String) -> BrokerClientError {
        let lines = text.split(separator: "\n")
        let said = lines.first(where: isSaid).map(said) ?? lines.first.map(String.init) ?? ""
        return BrokerClientError(.invalidParameter, said.isEmpty ? "brokerd --check-config failed." : said)
    }
}
