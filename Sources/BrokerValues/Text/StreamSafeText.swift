extension String {
    /// Whether at most thirty marks combine with one character, as in the Stream-Safe Text Format (UAX #15, D3).
    ///
    /// Strings are compared by canonical equivalence, for which the marks on a character are sorted; that takes quadratic time.
    /// No language comes near thirty.
    package var isStreamSafe: Bool {
        var marks = CombiningMarkCounter()
        return unicodeScalars.allSatisfy { marks.allow($0) }
    }

    /// The same text with an invisible joiner in longer sequences of marks (UAX #15, D4).
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

    /// Creates a string from untrusted bytes, such as the names in a path; `nil` if they are not UTF-8, because repaired names
    /// would look the same as others, or not stream-safe.
    package init?(foreign bytes: some Collection<UInt8>) {
        self.init(validating: bytes, as: UTF8.self)
        guard isStreamSafe else { return nil }
    }
}

private struct CombiningMarkCounter {
    private var count = 0

    /// - Returns: false if there is one too many.
    mutating func allow(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
            count = 0
        } else {
            count += 1
        }
        return count <= 30
    }
}
