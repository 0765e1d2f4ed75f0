/// Text that somebody else chose (a username, an app's name, a provider's message), made fit to be shown.
///
/// It must not be able to add markup, to turn the sentence around it (bidirectional controls, Trojan Source,
/// https://trojansource.codes), to hide letters, or to fill the page.
struct ForeignText: Sendable, Equatable {
    /// For people; not escaped.
    let shown: String

    /// - Parameters:
    ///   - text: as it came.
    ///   - length: characters; what is longer is cut and says so.
    ///   - otherwise: takes the place of a text that is empty or blank.
    init(_ text: String, atMost length: Int, otherwise: String = "") {
        var scalars = String.UnicodeScalarView()
        // A character can carry any number of marks; so their number counts, too.
        var budget = length * 4
        for scalar in text.unicodeScalars where budget > 0 {
            budget -= 1
            scalars.append(Self.harmless(scalar))
        }
        let clean = String(scalars)
        let visible = clean.contains { !$0.isWhitespace }
        if !visible {
            shown = otherwise
        } else if clean.count > length || budget == 0 {
            shown = clean.prefix(length - 1) + "…"
        } else {
            shown = clean
        }
    }

    /// For element content and for attribute values in double or single quotes.
    var escaped: String {
        var result = ""
        for scalar in shown.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func harmless(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.properties.generalCategory {
        case .control:
            // One line is all there is room for.
            scalar == "\n" || scalar == "\r" || scalar == "\t" ? " " : "\u{FFFD}"
        case .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
            "\u{FFFD}"
        case .format:
            // Of the invisible characters only those that join and separate letters have a place in a name.
            scalar == "\u{200C}" || scalar == "\u{200D}" ? scalar : "\u{FFFD}"
        default:
            scalar
        }
    }
}
