import BrokerModel
import BrokerVault
import Synchronization

/// A store with faults, and with pauses at moments that nothing else can hold.
final class RowStoreDouble: RowStore {
    private struct State {
        /// The writes that still succeed; nil without a limit.
        var writesLeft: Int?
        var beforeRead: (@Sendable () -> Void)?
        var afterWrite: (@Sendable () -> Void)?
    }

    private let base: any RowStore
    private let state = Mutex(State())

    init(_ base: any RowStore) { self.base = base }

    /// After this number of writes the disk is full; nil makes room.
    func limitWrites(to count: Int?) { state.withLock { $0.writesLeft = count } }
    func beforeNextRead(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeRead = body } }
    /// While the rows are durable, and the writer does not know it yet.
    func afterNextWrite(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.afterWrite = body } }

    private func requireRoom() throws(VaultError) {
        let hasRoom = state.withLock { state in
            guard let left = state.writesLeft else { return true }
            state.writesLeft = max(0, left - 1)
            return left > 0
        }
        if !hasRoom { throw .full("There is no room.") }
    }

    private func take(_ hook: WritableKeyPath<State, (@Sendable () -> Void)?> & Sendable) -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state[keyPath: hook] = nil }
            return state[keyPath: hook]
        }
    }

    func make(_ header: [String: [UInt8]]) throws(VaultError) {
        try requireRoom()
        try base.make(header)
    }

    func read<Result: Sendable>(
        _ body: @Sendable (any RowSnapshot) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        take(\.beforeRead)?()
        return try base.read(body)
    }

    func write<Result: Sendable>(
        _ body: @Sendable (any RowTransaction) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        try requireRoom()
        let result = try base.write(body)
        take(\.afterWrite)?()
        return result
    }

    var path: String { base.path }
    var byteCount: Int { base.byteCount }
    var isCheckpointDue: Bool { base.isCheckpointDue }
    func exists() throws(VaultError) -> Bool { try base.exists() }
    func examine() throws(VaultError) -> (format: Int, header: [String: [UInt8]]) { try base.examine() }
    func open() throws(VaultError) { try base.open() }
    func checkpoint() throws(VaultError) { try base.checkpoint() }
    func trim() { base.trim() }
    func close() { base.close() }
}
