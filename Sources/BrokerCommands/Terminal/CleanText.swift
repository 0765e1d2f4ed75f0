extension String {
    /// Without anything that a terminal might take for a command, or that turns the order of letters around.
    ///
    /// Names, usernames and error descriptions come from providers, and from whoever may choose a name there.
    package var clean: String {
        clean(keeping: "")
    }

    /// - Parameter kept: characters that this program put there itself, such as the ends of its lines.
    package func clean(keeping kept: String) -> String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter { !$0.isUnsafeOnTerminal || kept.unicodeScalars.contains($0) }))
    }
}

extension Unicode.Scalar {
    /// Control characters (C0, DEL, C1), line and paragraph separators, and the bidirectional controls.
    var isUnsafeOnTerminal: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
