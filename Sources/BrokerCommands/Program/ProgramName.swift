/// One program under several names: other programs look for helpers by name.
package enum ProgramName {
    /// The subcommand of each link. `.ci/install` makes the links.
    private static let links: KeyValuePairs = ["git-credential-broker": "git-credential"]

    /// - Parameter commandLine: the name under which the program was run, then its arguments.
    /// - Returns: brokerctl's arguments.
    package static func arguments(of commandLine: [String]) -> [String] {
        let arguments = Array(commandLine.dropFirst())
        let name = commandLine.first?.split(separator: "/").last.map(String.init) ?? ""
        let subcommand = links.first { $0.key == name }?.value
        return (subcommand.map { [$0] } ?? []) + arguments
    }
}
