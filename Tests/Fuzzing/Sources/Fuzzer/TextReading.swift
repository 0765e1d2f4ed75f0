import BrokerValues

/// Untrusted text on its way to people and to other programs.
func readText(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    for length in [0, 7, 4096] {
        for substitute in [SafeText.Substitute.blank, .nothing, .mark, .escape] {
            let shown = SafeText(text, atMost: length, substitute)
            let isSafe = shown.text.unicodeScalars.allSatisfy { $0.isSafeToShow || $0 == "…" }
            precondition(isSafe && shown.text.count <= length + 1, "text that is not fit to be shown")
            precondition(shown.isCut || shown.text.count <= length, "a cut that is not said")
        }
    }
    let line = HandOver.shellWord(text)
    // As bytes: `==` of strings first normalizes the order of a hundred thousand combining marks.
    precondition(word(line, backslashInQuotes: false).utf8.elementsEqual(text.utf8), "another word to sh")
    precondition(word(line, backslashInQuotes: true).utf8.elementsEqual(text.utf8), "another word to fish")
    precondition(systemdText(HandOver.systemdWord(text)) == Array(text.utf8), "another word to systemd")
    if let url = WebURL(text) {
        let address = WebURL(HandOver.address(text), atMost: 3 * WebURL.longest)
        precondition(address?.host == url.host && address?.origin == url.origin, "another address")
        precondition(address?.text.utf8.contains { "${}".utf8.contains($0) } == false, "an address with a variable")
        let isEnd = url.host.hasSuffix(url.domain) || url.host.hasSuffix(url.domain + ".")
        precondition(isEnd && !url.domain.isEmpty, "a domain that is not the host's end")
    }
}

/// Unescapes a word like systemd, for which two dollars are one; `nil` if a single one begins a variable.
private func systemdText(_ word: String) -> [UInt8]? {
    var (bytes, rest) = ([UInt8](), word.utf8[...])
    while let byte = rest.popFirst() {
        bytes.append(byte)
        if byte == UInt8(ascii: "$"), rest.popFirst() != byte { return nil }
    }
    return bytes
}

/// Parses a line of one word like a shell, with only quotes and backslashes.
///
/// - Parameter backslashInQuotes: whether it escapes a quote and itself between single quotes.
private func word(_ line: String, backslashInQuotes: Bool) -> String {
    var (word, isQuoted, rest) = (String.UnicodeScalarView(), false, line.unicodeScalars[...])
    while let next = rest.popFirst() {
        switch next {
        case "'": isQuoted.toggle()
        case "\\" where !isQuoted: if let escaped = rest.popFirst() { word.append(escaped) }
        case "\\" where backslashInQuotes && (rest.first == "'" || rest.first == "\\"):
            if let escaped = rest.popFirst() { word.append(escaped) }
        default:
            precondition(isQuoted, "a character without quotes")
            word.append(next)
        }
    }
    precondition(!isQuoted, "a quote that is open")
    return String(word)
}
