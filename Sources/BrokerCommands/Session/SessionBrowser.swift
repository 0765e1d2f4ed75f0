import BrokerLink
import BrokerRPC
import BrokerValues

/// What opens a sign-in page for the person at this desktop: `browser.command` of the broker, else what the desktop has.
package enum SessionBrowser {
    /// - Parameter say: is told why the configured browser is not taken.
    static func current(at location: SocketLocation, say: (String) -> Void) -> SystemBrowser {
        let isUnit = SocketLocation.variable("INVOCATION_ID") != nil
        let connection = DirectConnection(location: location, answerTimeout: .seconds(5))
        guard let status = try? connection.call(GetBrokerStatus.self, .init()),
            let command = configured(for: TargetBroker(status, at: location), say: say)
        else { return isUnit ? SystemBrowser(BrowserCommand.desktop.asUnit) : SystemBrowser() }
        return SystemBrowser(isUnit ? command.asUnit : command)
    }

    /// As the broker beside this program reads the files of the one that runs. That one goes on with what it read before a mistake
    /// came into them, which nobody else knows.
    private static func configured(for broker: TargetBroker, say: (String) -> Void) -> BrowserCommand? {
        do throws(BrokerClientError) {
            let setting = try ConfigurationReport.current(of: broker).first { $0.name == "browser.command" }
            return setting.flatMap { words(of: $0.value) }.flatMap(BrowserCommand.init)
        } catch {
            say("The page opens in the desktop's browser, because browser.command cannot be read: \(error.message)")
            return nil
        }
    }

    /// An array of strings, as the report writes it: `["firefox", "%u"]`.
    ///
    /// - Returns: nil for anything else; a character that is not seen has an escape there that stands for no argument.
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
