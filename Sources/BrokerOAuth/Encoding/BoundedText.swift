/// Text of a stranger, made fit for an error message or a log line: one line, without control and formatting
/// characters (which could forge lines, colours or the direction of writing), and short.
struct BoundedText {
    let text: String

    init(_ stranger: String, limit: Int = 400) {
        var result = ""
        var length = 0
        for scalar in stranger.unicodeScalars.lazy.prefix(4 * limit) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if result.last != " ", !result.isEmpty { result.append(" ") } else { continue }
            case .format, .surrogate, .privateUse, .unassigned:
                continue
            default:
                result.unicodeScalars.append(scalar)
            }
            length += 1
            if length == limit {
                result.append("…")
                break
            }
        }
        if result.last == " " { result.removeLast() }
        text = result
    }
}
