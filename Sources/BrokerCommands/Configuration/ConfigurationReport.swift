import BrokerLink
import BrokerRPC
import BrokerValues

/// What `brokerd --check-config` says, a line a setting: `name = value  # origin`.
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
        // An app that a file registers has a name and an origin only.
        value = String(setting[end...].dropFirst(" = ".count))
    }

    /// Where a blank stands behind it. A part of it may be quoted: then whatever is in the quotes belongs to it.
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

    /// What a setting without a value has in its place.
    var isSet: Bool { value != "(not set)" }

    static func unknown(_ name: String) -> BrokerClientError {
        BrokerClientError(
            .invalidParameter, "There is no setting \(name); brokerctl config show lists those there are.")
    }

    /// - Parameter remark: is given what is wrong with files that the daemon goes on without, those of apps.
    static func current(
        of broker: TargetBroker, remark: (String) -> Void = { _ in }
    ) throws(BrokerClientError) -> [ConfigurationReport] {
        guard let report = DaemonProgram.checkConfiguration(of: broker) else { throw noDaemon }
        guard let settings = all(in: report.text) else { throw refused(report.text) }
        if report.status != 0 { report.text.split(separator: "\n").filter(isSaid).forEach { remark(said(by: $0)) } }
        return settings
    }

    /// - Returns: nil for a configuration that the daemon does not take. The status does not tell: a mistake in a file of apps is one
    ///   too, and the daemon takes the settings all the same.
    package static func all(in text: String) -> [ConfigurationReport]? {
        let settings = text.split(separator: "\n").filter { !isSaid($0) }.compactMap(ConfigurationReport.init)
        return settings.isEmpty ? nil : settings
    }

    /// Whether brokerd says it for people.
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
            .unsupported, "There is no brokerd beside this brokerctl that could read the configuration; install both.")
    }

    /// The sentence that says what is wrong, and where.
    static func refused(_ text: String) -> BrokerClientError {
        let lines = text.split(separator: "\n")
        let said = lines.first(where: isSaid).map(said) ?? lines.first.map(String.init) ?? ""
        return BrokerClientError(.invalidParameter, said.isEmpty ? "brokerd --check-config failed." : said)
    }
}
