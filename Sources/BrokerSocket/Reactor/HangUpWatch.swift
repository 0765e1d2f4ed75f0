import CBrokerLinux

/// Tells once when the other end of a pipe or socket is gone.
package final class HangUpWatch: Sendable {
    private let reactor: Reactor
    private let source: ReactorBound<Source>

    /// - Parameters:
    ///   - descriptor: a pipe's end to read from, or a socket; the watch's own from here on.
    ///   - told: called on the reactor's thread, also when the other end is gone already.
    /// - Throws: ``SocketError/noHangUp(descriptor:)`` for what never hangs up.
    package static func start(
        _ descriptor: ReceivedDescriptor, on reactor: Reactor, _ told: @escaping @Sendable () -> Void
    ) async throws(SocketError) -> HangUpWatch {
        let source = await reactor.perform {
            let source = Source(descriptor, on: reactor, told)
            return source.begin() ? ReactorBound(source, of: reactor) : nil
        }
        guard let source else { throw .noHangUp }
        return HangUpWatch(source, on: reactor)
    }

    private init(_ source: ReactorBound<Source>, on reactor: Reactor) {
        self.source = source
        self.reactor = reactor
    }

    /// Nothing is told from now on.
    package func cancel() {
        reactor.execute { [source] in source.value.end() }
    }

    private final class Source: ReactorSource {
        private let descriptor: Int32
        private let sender: UInt32
        private let reactor: Reactor
        private let told: @Sendable () -> Void
        private var token: UInt64?

        init(_ received: ReceivedDescriptor, on reactor: Reactor, _ told: @escaping @Sendable () -> Void) {
            (descriptor, sender) = (received.take(), received.sender)
            self.reactor = reactor
            self.told = told
        }

        func begin() -> Bool {
            if broker_hangs_up(descriptor) != 0 { token = reactor.watch(descriptor, for: [], self) }
            if token == nil { ReceivedDescriptor.close([descriptor], from: sender) }
            return token != nil
        }

        func end() {
            guard let token else { return }
            self.token = nil
            reactor.forget(token, descriptor)
            ReceivedDescriptor.close([descriptor], from: sender)
        }

        func ready(_ what: ReactorReadiness) {
            guard what.contains(.gone) else { return }
            end()
            told()
        }
    }
}
