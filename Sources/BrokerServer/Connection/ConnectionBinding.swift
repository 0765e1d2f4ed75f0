import Synchronization

/// What ends with a connection.
final class ConnectionBinding: Sendable {
    /// By name; nil when the connection has ended.
    private let ends = Mutex<[String: @Sendable () -> Void]?>([:])

    var isEmpty: Bool { ends.withLock { $0?.isEmpty ?? true } }

    /// - Returns: false when the connection has ended: nothing is called then.
    func add(_ name: String, _ end: @escaping @Sendable () -> Void) -> Bool {
        ends.withLock { ends in
            ends?[name] = end
            return ends != nil
        }
    }

    /// It has ended by itself.
    func remove(_ name: String) { ends.withLock { _ = $0?.removeValue(forKey: name) } }

    func end() {
        let all = ends.withLock { ends in
            defer { ends = nil }
            return ends ?? [:]
        }
        for end in all.values { end() }
    }
}
