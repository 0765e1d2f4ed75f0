/// Where a value came from.
package enum ConfigurationOrigin: Sendable, Equatable {
    case `default`
    case file(path: String, line: Int?)
    case environment(String)
    case flag(String)
}

extension ConfigurationOrigin: CustomStringConvertible {
    package var description: String {
        switch self {
        case .default: "default"
        case .file(let path, let line): path + (line.map { ":\($0)" } ?? "")
        case .environment(let name): "$\(name)"
        case .flag(let name): name
        }
    }
}
