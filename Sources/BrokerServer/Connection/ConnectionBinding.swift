import Synchronization

/// Actions to run when a connection ends.
final class ConnectionBinding: Sendable {
    /// By name; nil when the connection has ended.
    private let ends = Mutex<[String: @Sendable () -> Void]?>([:])

    var isEmpty: Bool { ends.withLock { $0?.isEmpty ?? true } }

    /// - Returns: false if the connection has ended: then nothing is called.
    func add(_ name: String, _ end: @escaping @Sendable () -> Void) -> Bool {
        ends.withLock { ends in
            ends?[name] = end
            return ends != nil
        }
    }

    /// Removes an action whose subject has ended already.
    func remove(_ name: String) { ends.withLock { _ = $0?.removeValue(forKey: name) } }

    func end() {
        let all = ends.withLock { ends in
            defer { ends = nil }
            return ends ?? [:]
        }
        for end in all.values { end() }
    }
}
