import BrokerModel
import BrokerSystem
import Dispatch
import Synchronization

/// Inspects peers outside the reactor: the kernel's answers can take long, and a peer can make them take longer.
///
/// Few peers are inspected at a time, one per process; processes take turns. The threads wait for the next peer: a new thread for each
/// would take longer than a look, and need room for a thread when there may be none.
final class PeerInspectionQueue: Sendable {
    typealias Look = @Sendable () -> Void

    /// At one time.
    static let threads = 2

    fileprivate struct Process: Hashable {
        let uid: UInt32
        let pid: Int32
    }

    fileprivate struct State {
        /// In order of arrival.
        var waiting: [Process: [Look].SubSequence] = [:]
        /// Processes that wait and are not being inspected; the first is next.
        var turns: [Process].SubSequence = []
        var count = 0
        var whenRoom: [Look] = []
    }

    /// So many wait; beyond it no more are accepted.
    private let maximumWaiting: Int
    private let state = Mutex(State())
    /// Signaled for each peer, and at the end.
    private let arrivals = DispatchSemaphore(value: 0)

    /// - Throws: ``SocketError`` if the system has no thread to spare.
    init(maximumWaiting: Int) throws(SocketError) {
        self.maximumWaiting = maximumWaiting
        for _ in 0..<Self.threads {
            let code = DetachedThread.start { [arrivals, weak self] in
                while true {
                    arrivals.wait()
                    guard let self else { return }
                    self.run()
                }
            }
            guard code == 0 else { throw .system(doing: "look at callers", code: code) }
        }
    }

    deinit { for _ in 0..<Self.threads { arrivals.signal() } }

    /// - Parameter look: runs on a thread that may wait.
    func add(_ peer: PeerCredentials, _ look: @escaping Look) {
        state.withLock { $0.add(look, of: Process(uid: peer.uid, pid: peer.pid)) }
        arrivals.signal()
    }

    /// - Returns: whether there is room for one more; otherwise `notify` is called once when there is.
    func hasRoom(orTell notify: @escaping Look) -> Bool {
        state.withLock { state in
            guard state.count >= maximumWaiting else { return true }
            state.whenRoom.append(notify)
            return false
        }
    }

    private func run() {
        while let (process, look) = state.withLock({ $0.next() }) {
            look()
            for notify in state.withLock({ $0.ended(process, maximumWaiting: maximumWaiting) }) { notify() }
        }
    }
}

extension PeerInspectionQueue.State {
    fileprivate mutating func add(_ look: @escaping PeerInspectionQueue.Look, of process: PeerInspectionQueue.Process) {
        count += 1
        // A process that is being inspected has its next turn after that.
        if waiting[process] == nil { turns.append(process) }
        waiting[process, default: []].append(look)
    }

    /// - Returns: `nil` if none waits for a turn.
    fileprivate mutating func next() -> (PeerInspectionQueue.Process, PeerInspectionQueue.Look)? {
        guard let process = turns.popFirst(), let look = waiting[process]?.popFirst() else { return nil }
        return (process, look)
    }

    /// - Returns: the callback that waits for room, if there is room.
    fileprivate mutating func ended(_ process: PeerInspectionQueue.Process, maximumWaiting: Int) -> [PeerInspectionQueue
        .Look]
    {
        count -= 1
        if waiting[process]?.isEmpty == true { waiting[process] = nil } else { turns.append(process) }
        guard count <= maximumWaiting / 2 else { return [] }
        defer { whenRoom = [] }
        return whenRoom
    }
}
