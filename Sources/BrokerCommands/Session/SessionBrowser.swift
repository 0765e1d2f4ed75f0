import BrokerLink
import BrokerRPC
import BrokerValues

/// The browser for sign-in pages at this desktop: the broker's `browser.command`, or else the desktop's default.
package enum SessionBrowser {
    /// - Parameter say: receives the reason if the configured browser is not used.
    static func current(at location: SocketLocation, say: (String) -> Void) -> SystemBrowser {
        let isUnit = SocketLocation.variable("INVOCATION_ID") != nil
        let connection = DirectConnection(location: location, answerTimeout: .seconds(5))
        guard let status = try? connection.call(GetBrokerStatus.self, .init()),
            let command = configured(for: TargetBroker(status, at: location), say: say)
        else { return isUnit ? SystemBrowser(BrowserCommand.desktop.asUnit) : SystemBrowser() }
        return SystemBrowser(isUnit ? command.asUnit : command)
    }

    /// Lets the installed brokerd read the files of the running broker. If they now contain a mistake, the running one still uses
    /// its earlier settings, which cannot be queried.
    private static func configured(for broker: TargetBroker, say: (String) -> Void) -> BrowserCommand? {
        do throws(BrokerClientError) {
            let setting = try ConfigurationReport.current(of: broker).first { $0.name == "browser.command" }
            return setting.flatMap { words(of: $0.value) }.flatMap(BrowserCommand.init)
        } catch {
            say("The page opens in the desktop's browser, because browser.command cannot be read: \(error.message)")
            return nil
        }
    }

    /// Parses an array of strings from the report: `["firefox", "%u"]`.
    ///
    /// - Returns: `nil` for anything else, including escapes of invisible characters, which do not yield an argument.
    package static func words(of array: String) -> [String]? {
        guard array.hasPrefix("["), array.hasSuffix("]") else { return nil }
        var words: [String] = []
        var word: String?
        var isEscaped = false
        for character in array.unicodeScalars.dropFirst().dropLast() {
            guard var open = word else {
                if character == "\"" { word = "" } else if character != ",", character != " " { return nil }
                continue
            }
            if isEscaped {
                guard character == "\"" || character == "\\" else { return nil }
                open.unicodeScalars.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                words.append(open)
                word = nil
                continue
            } else {
                open.unicodeScalars.append(character)
            }
            word = open
        }
        return word == nil && !words.isEmpty ? words : nil
    }
}
