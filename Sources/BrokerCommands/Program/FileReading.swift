import BrokerLink
import BrokerSystem
import Glibc

/// The contents of a file, or of a shell's process substitution (`<(...)`).
///
/// - Returns: `nil` if it cannot be read, or is larger than any file that a user would name here.
func contents(of path: String) -> [UInt8]? {
    let longest = 256 << 20
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = readFile(descriptor, atMost: longest), bytes.count <= longest else { return nil }
    return bytes
}

extension String {
    /// The lines of a text file, without their line feeds; a carriage return before one stays. (`split` by "\n" would not divide at
    /// "\r\n", which is one character.)
    var fileLines: [String] {
        var lines = utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String($0) ?? "" }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}

/// The contents of a file at a path that the user did not name; never waits for a pipe there.
///
/// - Returns: `nil` if it cannot be read, is not a regular file, or is larger than such files are.
func contents(ofFileAt path: String) -> [UInt8]? {
    try? readFile(at: path, atMost: 1 << 20, isTrusted: false)
}

/// The text of a file that is about to be edited.
///
/// - Returns: empty only if there is no file, because an unreadable one must not be overwritten.
func editableText(ofFileAt path: String) throws(BrokerClientError) -> String {
    guard access(path, F_OK) == 0 || errno != ENOENT else { return "" }
    guard let bytes = contents(ofFileAt: path), let text = String(validating: bytes, as: UTF8.self) else {
        throw BrokerClientError(.internal, "\(path) cannot be read as UTF-8 text, and is left as it is.")
    }
    return text
}
