import BrokerSystem
import CBrokerLinux
import Glibc

/// The bytes of one connected socket, in both directions. Lives on its reactor's thread.
final class SocketStream: ReactorSource {
    /// Beyond `high` bytes that the peer has not taken it is not writable, until there are fewer than `low`.
    private static let high = 256 << 10
    private static let low = 32 << 10
    /// Memory that is kept for the next answer.
    private static let kept = 16 << 10

    let reactor: Reactor
    private let descriptor: Int32
    private var token: UInt64?
    private var isOpen = true
    private var interest: ReactorInterest
    private var owner: (any SocketStreamOwner)?

    private var outgoing: [UInt8] = []
    private var sent = 0
    /// The peer takes nothing any more.
    private var isBroken = false
    /// The peer is gone. What it sent before is read in the same measure as of others.
    private var isGone = false
    private var isReadingRest = false
    private(set) var isWritable = true
    private var inputHasEnded = false
    private var closesOutput = false
    private var outputIsClosed = false

    /// Whether descriptors may come with the bytes. None is ever taken: a peer that sends some is read no further.
    private enum Descriptors {
        /// Some may have been sent before they were refused, or the kernel does not refuse them.
        case suspected(untilEmpty: Bool)
        /// None can come any more.
        case refused
        /// Some are there. Nothing is read any more.
        case sent
    }
    private var descriptors: Descriptors { didSet { updateInterest() } }

    /// - Parameters:
    ///   - descriptor: connected, non-blocking, and the stream's own from here on.
    ///   - reactor: which counts it already.
    init(_ descriptor: Int32, of reactor: Reactor) {
        self.descriptor = descriptor
        descriptors = .suspected(untilEmpty: broker_refuse_descriptors(descriptor) == 0)
        self.reactor = reactor
        interest = []
    }

    /// From now on the owner is told. Another owner may take the stream over.
    func serve(_ owner: any SocketStreamOwner, wantsInput: Bool) {
        self.owner = owner
        // Who is closed while a peer is being refused is not watched again.
        guard isOpen, token == nil, !isGone else { return self.wantsInput = wantsInput }
        interest = wantsInput ? .input : []
        token = reactor.watch(descriptor, for: interest, self)
        if token == nil { close() }
    }

    /// Whether bytes are read. Otherwise they stay in the peer's own memory.
    var wantsInput = true {
        didSet { if wantsInput != oldValue || isGone { updateInterest() } }
    }

    /// Bytes written that the peer has not taken.
    var unsent: Int { outgoing.count - sent }

    /// Keeps the bytes for ``flush()``.
    func write(_ bytes: [UInt8]) {
        guard takesOutput else { return }
        outgoing.append(contentsOf: bytes)
        updateWritability()
    }

    /// As above; the bytes are taken where nothing else waits, and empty memory left in their place.
    ///
    /// - Parameter bytes: nobody else's, for they are overwritten in their place when they are sent.
    func write(taking bytes: inout [UInt8]) {
        guard takesOutput else { return }
        if outgoing.isEmpty { swap(&outgoing, &bytes) } else { outgoing.append(contentsOf: bytes) }
        updateWritability()
    }

    private var takesOutput: Bool { isOpen && !isBroken && !closesOutput }

    private func updateWritability() {
        if unsent > Self.high { isWritable = false }
    }

    /// Sends what the socket takes; the rest goes when the peer has taken some.
    func flush() {
        guard isOpen, !isBroken else { return }
        while unsent > 0 {
            let count = outgoing.withUnsafeBytes { bytes in
                broker_send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
            }
            if count < 0 {
                guard -count != EINTR else { continue }
                guard -count == EAGAIN else { return breakOff() }
                break
            }
            sent += count
        }
        if unsent == 0 {
            forgetOutgoing()
            endOutput()
        }
        updateInterest()
        if !isWritable, unsent < Self.low {
            isWritable = true
            owner?.writableAgain()
        }
    }

    /// Ends the output when everything written is sent.
    func closeOutput() {
        guard isOpen else { return }
        closesOutput = true
        if isBroken { endOutput() } else { flush() }
    }

    /// Ends both directions now. The owner is told soon, and not before this returns.
    func close() {
        guard isOpen else { return }
        isOpen = false
        if let token { reactor.forget(token, descriptor) }
        token = nil
        forgetOutgoing()
        shutdown(descriptor, Int32(SHUT_RDWR))
        // What waits to be read may hold descriptors, whose end is not to be waited for here.
        while read({ _, _ in }) > 0 {}
        let owner = self.owner
        self.owner = nil
        if case .sent = descriptors {
            // Until it is told, the reactor goes on.
            let ended = ReactorBound({ owner?.ended() }, of: reactor)
            closeAside { [reactor] in reactor.execute { ended.value() } }
        } else {
            Glibc.close(descriptor)
            if let owner { reactor.soon { owner.ended() } }
        }
    }

    /// With what the socket holds its descriptors go, each in its own time.
    private func closeAside(_ then: @escaping @Sendable () -> Void) {
        let descriptor = descriptor
        let code = DetachedThread.start {
            broker_close_in_own_fd_table(descriptor)
            then()
        }
        // Without a thread to spare it stays as it is: whoever sent that keeps its place.
        if code != 0 { reactor.schedule(after: .seconds(1)) { self.closeAside(then) } }
    }

    /// What was to be sent may hold a token.
    private func forgetOutgoing() {
        guard !outgoing.isEmpty else { return }
        Self.wipe(&outgoing)
        sent = 0
    }

    /// Keeps its memory, unless that is much.
    private static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { $0.wipe() }
        if bytes.capacity > kept { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
    }

    private func endOutput() {
        guard closesOutput, !outputIsClosed else { return }
        outputIsClosed = true
        shutdown(descriptor, Int32(SHUT_WR))
        owner?.outputEnded()
    }

    /// The peer takes nothing any more. Whoever writes just now is not disturbed.
    private func breakOff() {
        isBroken = true
        reactor.soon { self.leave() }
    }

    private func updateInterest() {
        guard !isGone else { return readRest() }
        var wanted: ReactorInterest = []
        var reads = wantsInput && !inputHasEnded
        if case .sent = descriptors { reads = false }
        if reads { wanted.insert(.input) }
        if unsent > 0 { wanted.insert(.output) }
        guard let token, wanted != interest else { return }
        interest = wanted
        reactor.change(token, descriptor, to: wanted)
    }

    func ready(_ what: ReactorReadiness) {
        guard !what.contains(.gone) else { return leave() }
        if what.contains(.output) { flush() }
        if what.contains(.input) { receive() }
    }

    /// Who is told holds the stream.
    func letGo() { owner = nil }

    private func receive() {
        guard isOpen, wantsInput, !inputHasEnded else { return }
        let count = read { owner?.received($0, $1) }
        if count == 0 {
            inputHasEnded = true
            updateInterest()
            owner?.inputEnded()
        } else if count < 0, -count != EAGAIN, -count != EINTR {
            close()
        }
    }

    /// The kernel would go on to tell that the peer is gone.
    private func leave() {
        guard isOpen, !isGone else { return }
        (isGone, isBroken) = (true, true)
        if let token { reactor.forget(token, descriptor) }
        token = nil
        forgetOutgoing()
        owner?.peerGone()
        guard isOpen else { return }
        if closesOutput { endOutput() }
        if !isWritable {
            isWritable = true
            owner?.writableAgain()
        }
        receiveRest()
    }

    private func readRest() {
        guard isOpen, wantsInput, !isReadingRest else { return }
        isReadingRest = true
        reactor.soon {
            self.isReadingRest = false
            self.receiveRest()
        }
    }

    private func receiveRest() {
        while isOpen, wantsInput {
            let count = read { owner?.received($0, $1) }
            guard count > 0 || -count == EINTR else { return close() }
        }
    }

    /// Reads what is there, and overwrites it when it was taken: a request may hold a secret.
    ///
    /// - Returns: the number of bytes, 0 at the end, or minus an errno value.
    private func read(_ take: (UnsafeRawBufferPointer, ByteWriter) -> Void) -> Int {
        var size = reactor.buffer.count
        switch descriptors {
        case .refused: break
        case .sent: return -Int(EAGAIN)
        case .suspected(let untilEmpty):
            let count = broker_look_for_descriptors(descriptor, reactor.buffer.baseAddress, size)
            if count == -Int(EBADMSG) {
                reactor.buffer.wipe()
                descriptors = .sent
                owner?.descriptorsSent()
                return -Int(EAGAIN)
            }
            guard count > 0 else {
                if untilEmpty, -count == EAGAIN { descriptors = .refused }
                return count
            }
            size = count
        }
        var writer = broker_writer()
        let count = broker_receive(descriptor, reactor.buffer.baseAddress, size, &writer)
        guard count > 0 else { return count }
        let bytes = UnsafeMutableRawBufferPointer(rebasing: reactor.buffer[..<count])
        take(UnsafeRawBufferPointer(bytes), ByteWriter(writer))
        bytes.wipe()
        return count
    }
}

/// Whom a stream tells. All calls come on the reactor's thread.
protocol SocketStreamOwner: AnyObject {
    /// - Parameter bytes: to be copied before anything else is done; closing a stream reads into the same memory.
    func received(_ bytes: UnsafeRawBufferPointer, _ writer: ByteWriter)
    /// The peer sends no more; it may still read.
    func inputEnded()
    /// The peer is gone: nothing that is written reaches it. What it sent before comes as long as input is wanted, and then
    /// the end.
    func peerGone()
    /// The peer sent descriptors. Nothing more is received.
    func descriptorsSent()
    /// The peer has taken so much that more can be written.
    func writableAgain()
    /// All is sent after ``SocketStream/closeOutput()``.
    func outputEnded()
    /// The connection is gone. Called once, the last call.
    func ended()
}

extension SocketStreamOwner {
    func peerGone() {}
    func descriptorsSent() {}
    func writableAgain() {}
    func outputEnded() {}
}

/// The process that wrote some bytes. Where the kernel does not say which one, it is 0, and the user a foreign one.
struct ByteWriter: Equatable {
    var pid: Int32
    var uid: UInt32
    var gid: UInt32

    init(_ writer: broker_writer) { (pid, uid, gid) = (writer.pid, writer.uid, writer.gid) }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func wipe() {
        if let baseAddress { explicit_bzero(baseAddress, count) }
    }
}
