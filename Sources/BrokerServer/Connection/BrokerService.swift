import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues

/// Serves a front on a `LocalListener`: says who may speak, and gives each connection its session.
package struct BrokerService: ConnectionService {
    private let front: any Front
    /// Whose own socket it serves, and of which person; nil for the common one.
    private var own: SandboxBinding?

    package init(_ front: any Front) { self.front = front }

    /// As the audit names it. A sandbox's own socket is a door apart where it speaks the broker's protocol.
    var door: Door { own != nil && front.door == .socket ? .sandbox : front.door }

    private var services: ServerServices { front.service.services }
    private var ofUsers: UserRequests { front.service.ofUsers }

    /// The same service, for those who come by the sandbox's socket.
    package func serving(_ door: SandboxBinding) -> BrokerService {
        var service = self
        service.own = door
        return service
    }

    /// The uid is judged by what the kernel says, before anything is looked up about a stranger.
    package func look(at peer: PeerCredentials) -> PeerSnapshot? {
        do throws(BrokerError) { try requireServed(peer) } catch { return nil }
        return inspect(peer)
    }

    package func admit(_ connection: LocalConnection, _ found: PeerSnapshot?) -> ConnectionDecision {
        do throws(BrokerError) {
            try requireServed(connection.peer)
            let peer = connection.peer
            let caller = Caller(found ?? inspect(peer))
            return .serve(
                ConnectionSession(
                    connection, context: context(of: connection, caller, peer) { now(caller, peer) },
                    conversation: front.converse(), maximumWaiting: services.requestsPerConnection,
                    ofUsers: ofUsers,
                    handedOn: { writer in
                        // Who connected may have entered a sandbox before it gave the connection away.
                        let connector = peer.process?.isRunning == true ? now(caller, peer) : caller
                        let both = connector.handingOn(to: facts(of: writer))
                        return context(of: connection, both, writer) { both }
                    },
                    moved: {
                        let moved = now(caller, peer)
                        return context(of: connection, moved, peer) { moved }
                    }),
                owner: ConnectionOwner(
                    caller.claimant, of: services.payer(caller.partition), mayUseReserve: caller.mayAdminister))
        } catch {
            return .refuse(front.refusal(error))
        }
    }

    /// Who was not seen to be outside when it connected is not looked at again: it gains nothing.
    private func now(_ caller: Caller, _ peer: PeerCredentials) -> Caller {
        caller.isOutside || caller.mayMove ? Caller(inspect(peer)) : caller
    }

    /// - Parameters:
    ///   - asker: the process that writes.
    ///   - now: judges the caller again.
    private func context(
        of connection: LocalConnection, _ caller: Caller, _ asker: PeerCredentials,
        now: @escaping @Sendable () -> Caller
    ) -> ConnectionContext {
        let hasNotifications = front.hasNotifications
        return ConnectionContext(
            caller: caller, by: door, connectedAt: services.clock.uptime,
            payer: services.payer(caller.partition), callerNow: now,
            hasMoved: { [inspector = services.inspector] thoroughly in
                guard caller.mayMove else { return false }
                return inspector.hasMoved(connection.peer, since: caller.facts, thoroughly: thoroughly)
            },
            hasEnded: { [process = asker.process] in process?.isRunning == false },
            connectionCount: { connection.count },
            askPerson: { [consent = services.consent] in consent?.ask(about: caller.forApps) },
            connected: services.connected, ofUsers: ofUsers,
            send: { if hasNotifications { connection.write($0.bytes) } })
    }

    /// A name that one person gave is nothing to another's partition.
    private func requireServed(_ peer: PeerCredentials) throws(BrokerError) {
        guard own?.sandbox.acceptsAnyUID != true else { return }
        try services.policy.serves(peer)
        guard let own, own.partition != Partition(uid: peer.uid) else { return }
        throw BrokerError(
            .accessDenied, "This socket is for a sandbox of another user.", reason: .otherUser)
    }

    private func inspect(_ peer: PeerCredentials) -> PeerSnapshot {
        let facts = facts(of: peer)
        let starter = facts.isFront ? services.inspector.inspectStarter(of: peer) : nil
        return PeerSnapshot(facts, startedBy: starter.map(completed))
    }

    private func facts(of peer: PeerCredentials) -> PeerFacts {
        completed(services.inspector.inspect(peer))
    }

    /// With what the broker knows besides the process.
    private func completed(_ facts: PeerFacts) -> PeerFacts {
        var facts = facts
        if let own, own.sandbox.acceptsAnyUID { facts.uid = own.partition.uid }
        facts.sandbox = own?.sandbox
        facts.sandboxApps = own?.apps ?? [:]
        facts.lacksAdminProof = !services.policy.hasAdminProof(gid: facts.gid)
        facts.isServedWithOthers = services.policy.servesEverybody
        return facts
    }

    package func refusalLine(_ reason: ConnectionRefusal) -> [UInt8] { front.refusal(reason) }
}

extension BrokerError {
    init(_ reason: ConnectionRefusal) {
        switch reason {
        case .lineTooLong(let limit):
            self.init(
                .invalidParameter,
                "A message is longer than \(limit) bytes; connect again and send shorter ones.")
        case .lineCutOff: self.init(.invalidParameter, "The connection was shut in the middle of a message.")
        case .manyWriters:
            self.init(
                .accessDenied,
                "More than one process writes on this connection; each must make its own.")
        case .descriptors: self.init(.accessDenied, "Descriptors are not accepted from clients.")
        case .lineStalled(let time):
            self.init(
                .timedOut,
                "The end of a line did not come within \(time.components.seconds.inSeconds); connect again and send whole lines."
            )
        case .tooManyConnections(let limit, let party):
            self.init(
                .throttled, "\(party.has) \(limit) connections already; close some, or try again later.",
                reason: .tooManyConnections)
        }
    }
}

extension ConnectionRefusal.Party {
    fileprivate var has: String {
        switch self {
        case .everybody: "The broker serves"
        case .user: "The programs of your user have"
        case .program: "This program or sandbox has"
        case .unnamed: "All sandboxes without a confirmed name have"
        }
    }
}
