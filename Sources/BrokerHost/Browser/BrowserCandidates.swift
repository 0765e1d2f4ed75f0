import BrokerValues

extension BrowserCommand {
    /// The commands to try, in order: only the configured one, if there is one; else the commands of `$BROWSER`; or the desktop's
    /// default browser, if the variable names none.
    package static func candidates(configured: [String] = [], environment: [String: String]) -> [BrowserCommand] {
        var commands = BrowserCommand(configured).map { [$0] } ?? named(by: environment["BROWSER"])
        if commands.isEmpty { commands = ofDesktop(hasSessionBus: environment["DBUS_SESSION_BUS_ADDRESS"] != nil) }
        return environment["INVOCATION_ID"] == nil ? commands : commands.map(\.asUnit)
    }
}
