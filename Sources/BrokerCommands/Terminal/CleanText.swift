import BrokerValues

extension String {
    /// Without anything that a terminal might take for a command, that is not seen, or that turns the order of letters around; on
    /// one line, and no longer than a person would read.
    ///
    /// Names, usernames and error descriptions come from providers, and from whoever may choose a name there.
    package var clean: String { clean(atMost: 4096) }

    /// For what is copied whole: an address, a token, a command.
    var cleanWhole: String { clean(atMost: 1 << 20) }

    /// - Parameter length: in characters.
    func clean(atMost length: Int) -> String { SafeText(self, atMost: length, .nothing).text }
}
