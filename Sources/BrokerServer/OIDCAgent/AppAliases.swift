import Synchronization

/// What programs call apps that have another name here. A reload changes them.
package final class AppAliases: Sendable {
    private let names: Mutex<[String: String]>

    /// - Parameter names: apps by their other names.
    package init(_ names: [String: String] = [:]) { self.names = Mutex(names) }

    package func apply(_ names: [String: String]) { self.names.withLock { $0 = names } }

    func app(named name: String) -> String { names.withLock { $0[name] } ?? name }
}
