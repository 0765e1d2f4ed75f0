import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues

/// The parts that the connections of every front share.
struct ConnectionParts: Sendable {
    let policy: AccessPolicy
    let inspector: any PeerInspector
    let clock: any BrokerClock
    /// Asks people in their browser about waiting callers; `nil` if there is no browser.
    let consent: BrowserConsent?
    /// The user whose quota a user's usage counts against: subordinate uids count for their owner.
    let payer: @Sendable (Partition) -> Partition
    /// Requests of one connection in progress at a time.
    let requestsPerConnection: Int
    let all: AllConnections
}

/// Serves a front on a `LocalListener`: decides which peers are served, and gives each connection its session.
package struct FrontService: ConnectionService {
    private let front: any Front
    private let parts: ConnectionParts
    /// The sandbox and the person whose own socket it serves; `nil` for the common socket.
    private var own: SandboxBinding?

    init(_ front: any Front, _ parts: ConnectionParts) { (self.front, self.parts) = (front, parts) }

    /// The door's name in the audit log. A sandbox's own socket is a separate door if it speaks the broker's protocol.
    var door: Door { own != nil && front.door == .socket ? .sandbox : front.door }

    /// The same service, for clients of the sandbox's socket.
    func serving(_ sandbox: SandboxBinding) -> FrontService {
        var service = self
        service.own = sandbox
        return service
    }

    /// The kernel's uid is checked before an unknown peer is inspected.
    package func look(at peer: PeerCredentials) -> PeerSnapshot? {
        do throws(BrokerError) { try requireServed(peer) } catch { return nil }
        return inspect(peer)
    }

    package func admit(_ connection: LocalConnection, _ found: PeerSnapshot?) -> ConnectionDecision {
        do throws(BrokerError) { try requireServed(connection.peer) } catch { return .refuse(front.refusal(error)) }
        let caller = Caller(found ?? inspect(connection.peer))
        let owner = ConnectionOwner(
            caller.claimant, of: parts.payer(caller.partition), mayUseReserve: caller.mayAdminister)
        return .serve(session(of: connection, caller), owner: owner)
    }

    private func session(of connection: LocalConnection, _ caller: Caller) -> ConnectionSession {
        let peer = connection.peer
        return ConnectionSession(
            connection, context: context(of: connection, caller, (peer, caller)) { now(caller, peer) },
            front: front, maximumWaiting: parts.requestsPerConnection, ofUsers: parts.all.requests,
            handedOn: { writer in
                // The connecting process may have entered a sandbox before it passed the connection on.
                let connector = peer.process?.isRunning == true ? now(caller, peer) : caller
                let alone = Caller(facts(of: writer))
                return context(of: connection, connector.handingOn(to: alone.facts), (writer, alone)) {
                    connector.handingOn(to: facts(of: writer))
                }
            },
            moved: {
                let moved = now(caller, peer)
                return context(of: connection, moved, (peer, moved)) { moved }
            })
    }

    /// A caller that was not outside when it connected is not inspected again: it could only gain rights.
    private func now(_ caller: Caller, _ peer: PeerCredentials) -> Caller {
        caller.isOutside || caller.mayMove ? Caller(inspect(peer)) : caller
    }

    /// - Parameters:
    ///   - asker: the process that writes, and the caller that it is without another one.
    ///   - now: inspects the caller again.
    private func context(
        of connection: LocalConnection, _ caller: Caller, _ asker: (process: PeerCredentials, alone: Caller),
        now: @escaping @Sendable () -> Caller
    ) -> ConnectionContext {
        let hasNotifications = front.hasNotifications
        return ConnectionContext(
            caller: caller, by: door, connectedAt: parts.clock.uptime, payer: parts.payer(caller.partition),
            among: parts.all, callerNow: now,
            hasMoved: { [inspector = parts.inspector] thoroughly in
                asker.alone.mayMove
                    && inspector.hasMoved(asker.process, since: asker.alone.facts, thoroughly: thoroughly)
            },
            hasEnded: { [process = asker.process.process] in process?.isRunning == false },
            connectionCount: { connection.count },
            askPerson: { [consent = parts.consent] in consent?.ask(about: caller.forApps) },
            send: { if hasNotifications { connection.write($0.bytes) } })
    }

    /// A person's socket for a sandbox admits no other user.
    private func requireServed(_ peer: PeerCredentials) throws(BrokerError) {
        guard own?.sandbox.acceptsAnyUID != true else { return }
        try parts.policy.serves(peer)
        guard let own, own.partition != Partition(uid: peer.uid) else { return }
        throw BrokerError(
            .accessDenied, "This socket is for a sandbox of another user.", reason: .otherUser)
    }

    private func inspect(_ peer: PeerCredentials) -> PeerSnapshot {
        let facts = facts(of: peer)
        let starter = facts.isFront ? parts.inspector.inspectStarter(of: peer) : nil
        return PeerSnapshot(facts, startedBy: starter.map(completed))
    }

    private func facts(of peer: PeerCredentials) -> PeerFacts { completed(parts.inspector.inspect(peer)) }

    /// Adds what the broker knows apart from the process.
    private func completed(_ facts: PeerFacts) -> PeerFacts {
        var facts = facts
        if let own, own.sandbox.acceptsAnyUID { facts.uid = own.partition.uid }
        facts.sandbox = own?.sandbox
        facts.sandboxApps = own?.apps ?? [:]
        facts.lacksAdminProof = !parts.policy.hasAdminProof(gid: facts.gid)
        facts.isServedWithOthers = parts.policy.servesEverybody
        return facts
    }
}
