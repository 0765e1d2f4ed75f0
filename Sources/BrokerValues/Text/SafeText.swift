/// Untrusted text (a username, an app's name, a provider's message, what a peer sent), made safe to show: on one line, of a
/// bounded length, and without characters that control a terminal, forge a line of a log, hide letters or reverse the sentence
/// around them (Trojan Source, https://trojansource.codes).
///
/// Markup is not escaped here, but where it is written.
package struct SafeText: Sendable, Equatable {
    package let text: String
    /// Whether the text was longer, so that a part of it is not shown.
    package let isCut: Bool

    /// The replacement for an unsafe character.
    package enum Substitute: Sendable {
        /// A blank for separators, and nothing for other characters; several blanks become one. It is for messages.
        case blank
        /// Nothing, but a blank for other kinds of blanks. It is for terminals.
        case nothing
        /// U+FFFD, but a blank for a line end, a tab or another kind of blank. It is for pages, where the user should see that
        /// there was something.
        case mark
        /// `\u{…}`. It is for logs, where the original character is of interest.
        case escape
    }

    /// - Parameter length: in characters; longer text is truncated and ends with an ellipsis. A character can have any number of
    ///   combining marks, so at most four times as many scalars are used.
    package init(_ text: String, atMost length: Int, _ substitute: Substitute = .blank) {
        if case .blank = substitute {
        } else if text.utf8.count <= length, text.utf8.allSatisfy(isPrintableASCII) {
            (self.text, isCut) = (text, false)
            return
        }
        var result = String.UnicodeScalarView()
        var budget = 4 * length
        var rest = text.unicodeScalars[...]
        while budget > 0, let scalar = rest.popFirst() {
            budget -= 1
            if scalar.isSafeToShow && !(substitute == .blank && scalar.isBlank) {
                result.append(scalar)
                continue
            }
            switch substitute {
            case .blank:
                if scalar.isBlank, let last = result.last, last != " " { result.append(" ") }
            case .nothing:
                if scalar.properties.generalCategory == .spaceSeparator { result.append(" ") }
            case .mark:
                let isSpace = scalar.isLayout || scalar.properties.generalCategory == .spaceSeparator
                result.append(isSpace ? " " : "\u{FFFD}")
            case .escape:
                result.appendEach(of: "\\u{\(String(scalar.value, radix: 16))}")
            }
        }
        if substitute == .blank, result.last == " " { result.removeLast() }
        let shown = String(result)
        isCut = !rest.isEmpty || shown.count > length
        self.text = isCut ? shown.prefix(length) + "…" : shown
    }
}

extension Unicode.Scalar {
    /// Whether it may be shown: it is no control character (C0, DEL, C1), no line separator, no blank but the usual one, not
    /// invisible (such as joiners, fillers and direction marks), and not private or unassigned, so that its appearance is known.
    package var isSafeToShow: Bool {
        if isASCII { return isPrintableASCII(UInt8(truncatingIfNeeded: value)) }
        // Default_Ignorable_Code_Point (UAX #44): joiners, variation selectors, Hangul fillers among others.
        guard !properties.isDefaultIgnorableCodePoint, !Self.empty.contains(self) else { return false }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator, .format, .surrogate, .privateUse,
            .unassigned:
            return false
        default: return true
        }
    }

    /// Signs without ink that Unicode does not count as invisible: a Braille pattern without dots, a note without a head, the
    /// filler of Khitan.
    private static let empty: Set<Unicode.Scalar> = ["\u{2800}", "\u{1D159}", "\u{16FE4}"]

    fileprivate var isBlank: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }

    fileprivate var isLayout: Bool { self == "\n" || self == "\r" || self == "\t" }
}

private func isPrintableASCII(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
