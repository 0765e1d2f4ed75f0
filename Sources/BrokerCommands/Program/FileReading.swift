import BrokerSystem
import Glibc

/// All of a file, or of what a shell has made of a program's output (`<(...)`).
///
/// - Returns: nil where it cannot be read, or is longer than any file that a person would name here.
func contents(of path: String) -> [UInt8]? {
    let longest = 256 << 20
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let bytes = readFile(descriptor, atMost: longest), bytes.count <= longest else { return nil }
    return bytes
}

/// All of a file at a place that no person has named: nothing waits for a pipe that lies there.
///
/// - Returns: nil where it cannot be read, is no file, or is longer than such files are.
func contents(ofFileAt path: String, isTrusted: Bool = false) -> [UInt8]? {
    try? readFile(at: path, atMost: 1 << 20, isTrusted: isTrusted)
}
