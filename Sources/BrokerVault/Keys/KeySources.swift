/// The key sources that a configuration can name (`vault.key_source`). A new one is its type, and an entry here.
package enum KeySources {
    /// Makes the source for the vault in a directory.
    package typealias Maker = @Sendable (StateDirectory) -> any KeySource

    private static let all: KeyValuePairs<String, Maker> = [
        KeyFileSource.name: { KeyFileSource(in: $0) }
    ]

    package static var names: [String] { all.map(\.key) }

    /// - Returns: nil for what is none of ``names``.
    package static func named(_ name: String) -> Maker? { all.first { $0.key == name }?.value }
}
