import BrokerValues
import Synchronization

/// Other names that programs use for apps. A reload changes them.
package final class AppAliases: Sendable {
    private let names: Mutex<[ExactText: String]>

    /// - Parameter names: apps by their aliases.
    package init(_ names: [String: String] = [:]) { self.names = Mutex(Self.exact(names)) }

    package func apply(_ names: [String: String]) { self.names.withLock { $0 = Self.exact(names) } }

    func app(calledAlso name: String) -> String? { names.withLock { $0[ExactText(name)] } }

    private static func exact(_ names: [String: String]) -> [ExactText: String] {
        Dictionary(names.map { (ExactText($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
