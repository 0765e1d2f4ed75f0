import BrokerSystem

/// Why there is no configuration. The daemon prints ``description`` and exits with status 2.
package struct ConfigurationError: Error, Sendable, Equatable {
    package enum Code: Sendable, Equatable {
        /// A named file cannot be read.
        case unreadable
        /// Another user could have written the file.
        case unsafeFile
        /// Not TOML.
        case syntax
        case unknownKey
        case wrongType
        case outOfRange
    }

    package var code: Code
    package var message: String
    package var origin: ConfigurationOrigin

    init(_ code: Code, _ message: String, at origin: ConfigurationOrigin) {
        self.code = code
        self.message = message
        self.origin = origin
    }

    /// An error in a whole file or folder.
    init(_ error: FileError, at path: String) {
        let code: Code =
            switch error {
            case .foreign, .writableByOthers: .unsafeFile
            case .unreadable, .notRegular, .larger: .unreadable
            }
        self.init(code, error.text, at: .file(path: path, line: nil))
    }
}

extension ConfigurationError: CustomStringConvertible {
    package var description: String { "\(origin): \(message)" }
}
