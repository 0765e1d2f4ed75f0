/// One program under several names: other programs look for a helper by the name that they expect.
package enum ProgramName {
    /// The subcommand that a link means. `.ci/install` makes the links.
    private static let links: KeyValuePairs = ["git-credential-broker": "git-credential"]

    /// - Parameter commandLine: what the program was run as, then its arguments.
    /// - Returns: brokerctl's arguments.
    package static func arguments(of commandLine: [String]) -> [String] {
        let arguments = Array(commandLine.dropFirst())
        let name = commandLine.first?.split(separator: "/").last.map(String.init) ?? ""
        let subcommand = links.first { $0.key == name }?.value
        return (subcommand.map { [$0] } ?? []) + arguments
    }
}
