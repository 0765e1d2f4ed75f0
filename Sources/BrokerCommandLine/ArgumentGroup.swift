/// Options that belong together, for one command or several.
package protocol ArgumentGroup: SendableMetatype {
    /// The defaults. Required values are overwritten before they are read.
    init()

    /// Declares every option, flag and argument, and the variable for its value.
    mutating func declare(in arguments: inout Arguments)

    /// - Throws: if the arguments contradict each other.
    func validate() throws(UsageError)
}

extension ArgumentGroup {
    package func validate() throws(UsageError) {}

    /// The declarations of its command line, in order.
    package static var declarations: [Declaration] {
        var (group, arguments) = (Self(), Arguments())
        group.declare(in: &arguments)
        return arguments.declarations
    }

    /// Reads each value of a command line, then validates.
    package init(_ parsed: ParsedArguments) throws(UsageError) {
        var (group, arguments) = (Self(), Arguments(parsed))
        arguments.group(&group)
        if let mistake = arguments.mistake { throw mistake }
        self = group
    }
}
