import BrokerModel
import BrokerSystem
import Synchronization

/// Looks at peers beside the reactor: what is asked of the kernel can take long, and a peer can make it take longer.
///
/// Few are looked at at a time, of one process one; processes take turns. The threads end when nobody waits.
final class PeerInspectionQueue: Sendable {
    typealias Look = @Sendable () -> Void

    /// At a time.
    static let threads = 2

    fileprivate struct Process: Hashable {
        let uid: UInt32
        let pid: Int32
    }

    fileprivate struct State {
        /// In the order in which they came.
        var waiting: [Process: [Look].SubSequence] = [:]
        /// Processes that wait and are not looked at; the first is next.
        var turns: [Process].SubSequence = []
        var count = 0
        var running = 0
        var whenRoom: [Look] = []
    }

    /// So many wait; beyond it nobody else is accepted.
    private let mostWaiting: Int
    private let state = Mutex(State())

    init(mostWaiting: Int) { self.mostWaiting = mostWaiting }

    /// - Parameter look: run on a thread that may wait.
    func add(_ peer: PeerCredentials, _ look: @escaping Look) {
        let mustStart = state.withLock { state in
            state.add(look, of: Process(uid: peer.uid, pid: peer.pid))
            guard state.running < Self.threads else { return false }
            state.running += 1
            return true
        }
        // Where the system has no thread to spare, this one does it.
        if mustStart, DetachedThread.start({ self.run() }) != 0 { run() }
    }

    /// - Returns: whether there is room for one more; otherwise it is told once when there is.
    func hasRoom(orTell told: @escaping Look) -> Bool {
        state.withLock { state in
            guard state.count >= mostWaiting else { return true }
            state.whenRoom.append(told)
            return false
        }
    }

    private func run() {
        while let (process, look) = state.withLock({ $0.next() }) {
            look()
            for told in state.withLock({ $0.ended(process, mostWaiting: mostWaiting) }) { told() }
        }
    }
}

extension PeerInspectionQueue.State {
    fileprivate mutating func add(_ look: @escaping PeerInspectionQueue.Look, of process: PeerInspectionQueue.Process) {
        count += 1
        // One that is looked at has its next turn after that.
        if waiting[process] == nil { turns.append(process) }
        waiting[process, default: []].append(look)
    }

    /// - Returns: nil when nobody waits for a turn: the thread ends.
    fileprivate mutating func next() -> (PeerInspectionQueue.Process, PeerInspectionQueue.Look)? {
        guard let process = turns.popFirst(), let look = waiting[process]?.popFirst() else {
            running -= 1
            return nil
        }
        return (process, look)
    }

    /// - Returns: who waits for room, where there is some.
    fileprivate mutating func ended(_ process: PeerInspectionQueue.Process, mostWaiting: Int) -> [PeerInspectionQueue
        .Look]
    {
        count -= 1
        if waiting[process]?.isEmpty == true { waiting[process] = nil } else { turns.append(process) }
        guard count <= mostWaiting / 2 else { return [] }
        defer { whenRoom = [] }
        return whenRoom
    }
}
