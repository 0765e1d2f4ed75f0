import BrokerLink
import BrokerSystem
import Glibc

/// A secret in a file, because every process of the machine can read arguments.
enum SecretFile {
    private static let longest = 16 << 10

    /// The first line, trimmed.
    ///
    /// - Parameter path: `-` is standard input.
    static func firstLine(of path: String) throws(BrokerClientError) -> String {
        if path == "-" {
            // Nothing typed at a terminal is shown there.
            let isTyped = isatty(STDIN_FILENO) == 1
            let line = isTyped ? TerminalPrompt.line("Secret: ", hidden: true) : StandardInput.line()
            guard let line = line?.trimmed, !line.isEmpty else { throw unfit("Standard input") }
            return line
        }
        guard let file = fopen(path, "re") else {
            throw BrokerClientError(
                .invalidParameter,
                "The file \(path) cannot be read (\(errnoText(errno))); check its path.")
        }
        defer { fclose(file) }
        var bytes = [CChar](repeating: 0, count: longest)
        guard fgets(&bytes, Int32(longest), file) != nil else { throw unfit(path) }
        let text = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let line = String(decoding: text, as: UTF8.self).trimmed
        guard !line.isEmpty, text.count < longest - 1 else { throw unfit(path) }
        return line
    }

    private static func unfit(_ path: String) -> BrokerClientError {
        BrokerClientError(
            .invalidParameter, "\(path) does not hold one line of at most 16 KiB; put the secret there as one line.")
    }
}
