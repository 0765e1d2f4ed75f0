/// The text of a command line.
package enum CommandLineText {
    /// - Parameter bytes: the arguments as the system gives them. Repairing invalid UTF-8 would yield the name of another file.
    /// - Throws: for an argument that is not UTF-8.
    package static func words(of bytes: [[UInt8]]) throws(UsageError) -> [String] {
        try bytes.map { word throws(UsageError) in
            guard let text = String(validating: word, as: UTF8.self) else {
                throw UsageError("The argument \(String(decoding: word, as: UTF8.self)) is not UTF-8.")
            }
            return text
        }
    }
}
