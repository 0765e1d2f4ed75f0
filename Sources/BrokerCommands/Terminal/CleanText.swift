import BrokerValues

extension String {
    /// Without anything that a terminal might take for a command, or that turns the order of letters around.
    ///
    /// Names, usernames and error descriptions come from providers, and from whoever may choose a name there.
    package var clean: String {
        clean(keeping: "")
    }

    /// - Parameter kept: characters that this program put there itself, such as the ends of its lines.
    package func clean(keeping kept: String) -> String {
        SafeText(self, atMost: nil, .nothing, keeping: SafeText.joiners + kept).text
    }
}
