import BrokerLink
import BrokerRPC
import BrokerValues

/// What opens a sign-in page for the person at this desktop: `browser.command` of the broker, else what the desktop has.
package enum SessionBrowser {
    static func current(at location: SocketLocation) -> SystemBrowser {
        let isUnit = SocketLocation.variable("INVOCATION_ID") != nil
        let connection = DirectConnection(location: location, answerTimeout: .seconds(5))
        guard let status = try? connection.call(GetBrokerStatus.self, .init()),
            let command = configured(for: MeantBroker(status, at: location))
        else { return isUnit ? SystemBrowser(BrowserCommand.desktop.asUnit) : SystemBrowser() }
        return SystemBrowser(isUnit ? command.asUnit : command)
    }

    /// As the broker beside this program reads the files of the one that runs.
    private static func configured(for broker: MeantBroker) -> BrowserCommand? {
        let report = DaemonProgram.checkConfiguration(of: broker)
        guard let report, report.status == 0 else { return nil }
        let settings = report.text.split(separator: "\n").compactMap(ConfigurationReport.init)
        return settings.first { $0.name == "browser.command" }.flatMap { words(of: $0.value) }.flatMap(
            BrowserCommand.init)
    }

    /// An array of strings, as the report writes it: `["firefox", "%u"]`.
    ///
    /// - Returns: nil for anything else; a character that is not seen has an escape there that stands for no argument.
    package static func words(of array: String) -> [String]? {
        guard array.hasPrefix("["), array.hasSuffix("]") else { return nil }
        var words: [String] = []
        var word: String?
        var isEscaped = false
        for character in array.dropFirst().dropLast() {
            guard var open = word else {
                if character == "\"" { word = "" } else if character != ",", character != " " { return nil }
                continue
            }
            if isEscaped {
                guard character == "\"" || character == "\\" else { return nil }
                open.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                words.append(open)
                word = nil
                continue
            } else {
                open.append(character)
            }
            word = open
        }
        return word == nil && !words.isEmpty ? words : nil
    }
}
