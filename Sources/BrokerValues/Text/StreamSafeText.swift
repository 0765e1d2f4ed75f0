extension String {
    /// Whether at most thirty marks combine with one character, as the Stream-Safe Text Format has it (UAX #15, D3).
    ///
    /// Strings are compared by canonical equivalence, for which the marks on a character are put in order; that takes time
    /// with the square of their number. No language comes near thirty.
    package var isStreamSafe: Bool {
        var marks = CombiningMarkCounter()
        return unicodeScalars.allSatisfy { marks.allow($0) }
    }

    /// The same text with a joiner that is not seen wherever more marks than that follow each other (UAX #15, D4).
    package var streamSafe: String {
        guard !isStreamSafe else { return self }
        var (marks, text) = (CombiningMarkCounter(), UnicodeScalarView())
        for scalar in unicodeScalars {
            if !marks.allow(scalar) {
                text.append("\u{34f}")
                marks = CombiningMarkCounter()
                _ = marks.allow(scalar)
            }
            text.append(scalar)
        }
        return String(text)
    }

    /// Text that anybody may have chosen, such as the names in a path.
    ///
    /// - Returns: nil for what is not UTF-8, which would look the same as other such names, or is not stream-safe.
    package init?(foreign bytes: some Collection<UInt8>) {
        self.init(validating: bytes, as: UTF8.self)
        guard isStreamSafe else { return nil }
    }
}

private struct CombiningMarkCounter {
    private var count = 0

    /// - Returns: false for one too many.
    mutating func allow(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
            count = 0
        } else {
            count += 1
        }
        return count <= 30
    }
}
