import BrokerValues

extension String {
    /// The text without terminal control sequences, invisible characters and bidirectional overrides, on one line, and no longer
    /// than a person would read.
    ///
    /// Names, usernames and error descriptions come from providers, and from anyone who may choose a name there.
    package var clean: String { clean(atMost: 4096) }

    /// As ``clean``, for text that is copied whole: an address, a token, a command.
    package var cleanWhole: String { clean(atMost: 1 << 20) }

    /// - Parameter length: in characters.
    package func clean(atMost length: Int) -> String { SafeText(self, atMost: length, .nothing).text }
}
