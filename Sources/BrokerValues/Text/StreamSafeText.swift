extension String {
    /// Whether at most thirty marks combine with one character, as the Stream-Safe Text Format has it (UAX #15, D3).
    ///
    /// Strings are compared by canonical equivalence, for which the marks on a character are put in order; that takes time
    /// with the square of their number. No language comes near thirty.
    package var isStreamSafe: Bool {
        var marks = 0
        for scalar in unicodeScalars {
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                marks = 0
            } else {
                marks += 1
                if marks > 30 { return false }
            }
        }
        return true
    }
}
