/// Why there is no client, or why it keeps the certificate authorities that it had.
package enum HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The path, and why the file cannot be used.
    case caFile(String, String)
    case noLibrary

    package var description: String {
        switch self {
        case .caFile(let path, let why): "The CA file \(path) cannot be used: \(why)."
        case .noLibrary: "libcurl could not be started: no memory or no thread is available."
        }
    }
}
