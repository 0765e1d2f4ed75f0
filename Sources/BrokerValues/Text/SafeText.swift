/// Text that somebody else chose (a username, an app's name, a provider's message, what a peer sent), made safe to show: on
/// one line, of a bounded length, and without characters that steer a terminal, forge a line of a log, hide letters or turn
/// the sentence around them (Trojan Source, https://trojansource.codes).
///
/// What it is shown in may read more than characters: markup is escaped where it is written.
package struct SafeText: Sendable, Equatable {
    package let text: String

    /// What takes the place of an unsafe character.
    package enum Substitute: Sendable {
        /// A blank for what parts words, nothing for the rest; blanks in a row are one. For messages.
        case blank
        /// Nothing. For terminals.
        case nothing
        /// U+FFFD, and a blank for an end of a line or a tab. For pages, where the person sees that something was there.
        case mark
        /// `\u{…}`. For logs, where what was there is of interest.
        case escape
    }

    /// Joiners of letters and of emoji: without them names in some scripts are misspelled.
    package static let joiners = "\u{200C}\u{200D}"

    /// - Parameters:
    ///   - length: in characters; what is longer is cut and says so by an ellipsis. A character can carry any number of
    ///     marks, so four times as many scalars are taken at most. Nil sets no bound.
    ///   - kept: characters that stay although they are unsafe in general.
    package init(_ text: String, atMost length: Int?, _ substitute: Substitute = .blank, keeping kept: String = "") {
        if case .blank = substitute {
        } else if text.utf8.count <= length ?? .max, text.utf8.allSatisfy(isPrintableASCII) {
            self.text = text
            return
        }
        var result = String.UnicodeScalarView()
        var budget = length.map { $0 * 4 } ?? .max
        var rest = text.unicodeScalars[...]
        while budget > 0, let scalar = rest.popFirst() {
            budget -= 1
            if scalar.isSafeToShow && !(substitute == .blank && scalar.isBlank) || kept.unicodeScalars.contains(scalar)
            {
                result.append(scalar)
                continue
            }
            switch substitute {
            case .blank:
                if scalar.isBlank, let last = result.last, last != " " { result.append(" ") }
            case .nothing: break
            case .mark:
                result.append(scalar == "\n" || scalar == "\r" || scalar == "\t" ? " " : "\u{FFFD}")
            case .escape:
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        if substitute == .blank, result.last == " " { result.removeLast() }
        let shown = String(result)
        if let length, !rest.isEmpty || shown.count > length {
            self.text = shown.prefix(length) + "…"
        } else {
            self.text = shown
        }
    }
}

extension Unicode.Scalar {
    /// No control character (C0, DEL, C1), no separator of lines, no invisible format character (such as those that turn the
    /// direction of writing), nothing private or unassigned, whose looks nobody knows.
    package var isSafeToShow: Bool {
        if isASCII { return isPrintableASCII(UInt8(truncatingIfNeeded: value)) }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }

    fileprivate var isBlank: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }
}

private func isPrintableASCII(_ byte: UInt8) -> Bool { (0x20..<0x7f).contains(byte) }
