import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues
import NIOCore

/// Serves the protocol on a `LineListener`: says who may speak, and gives each connection its session.
package struct BrokerService: LineService {
    private let services: ServerServices
    private let pipeline: RequestPipeline
    /// Whose own socket it serves; nil for the common one.
    private var sandbox: Sandbox?

    package init(_ services: ServerServices) {
        self.services = services
        pipeline = RequestPipeline(services)
    }

    /// The same service, for those who come by the sandbox's socket.
    package func serving(_ sandbox: Sandbox) -> BrokerService {
        var service = self
        service.sandbox = sandbox
        return service
    }

    /// The uid is judged by what the kernel says, before anything is looked up about a stranger.
    package func admit(_ connection: LineConnection) -> Admission {
        do throws(BrokerError) {
            try services.policy.serves(connection.peer)
            let caller = try services.policy.identify(facts(of: connection.peer))
            let context = ConnectionContext(
                caller: caller,
                callerNow: { Caller(facts(of: connection.peer)) },
                connectionCount: { connection.count },
                askPerson: { [services] in services.consent?.ask(about: caller) },
                connected: services.connected,
                send: { connection.write(ByteBuffer(bytes: $0.bytes)) })
            return .serve(
                ConnectionSession(
                    connection, context: context, pipeline: pipeline, maximumWaiting: services.requestsPerConnection),
                owner: ConnectionOwner(caller))
        } catch {
            return .refuse(Self.line(error))
        }
    }

    private func facts(of peer: PeerCredentials) -> PeerFacts {
        var facts = services.inspector.inspect(peer)
        facts.sandbox = sandbox
        return facts
    }

    package func refusalLine(_ reason: LineRefusal) -> ByteBuffer {
        switch reason {
        case .lineTooLong(let limit): Self.line(.lineTooLong(limit: limit))
        case .lineCutOff: Self.line(.lineCutOff)
        case .lineStalled(let time):
            Self.line(
                BrokerError(
                    .timedOut,
                    "The end of a line did not come within \(time.components.seconds.inSeconds); connect again and send whole lines."
                ))
        case .tooManyConnections(let limit, let party):
            Self.line(
                BrokerError(
                    .throttled,
                    "\(party.has) \(limit) connections already; close some, or try again later.",
                    reason: .tooManyConnections))
        }
    }

    private static func line(_ error: BrokerError) -> ByteBuffer { ByteBuffer(bytes: Refusal.line(error)) }

    private static func line(_ error: RPCError) -> ByteBuffer { ByteBuffer(bytes: Refusal.line(error)) }
}

extension LineRefusal.Party {
    fileprivate var has: String {
        switch self {
        case .everybody: "The broker serves"
        case .user: "The programs of your user have"
        case .program: "This program or sandbox has"
        }
    }
}

/// An error that answers no request in particular.
package enum Refusal {
    package static func line(_ error: BrokerError) -> [UInt8] {
        line(RPCError(error.correlated(CorrelationID.make())))
    }

    static func line(_ error: RPCError) -> [UInt8] {
        var writer = JSONWriter()
        writer.refuse(with: error, to: nil)
        writer.endLine()
        return writer.bytes
    }
}

extension ConnectionOwner {
    fileprivate init(_ caller: Caller) {
        self.init(caller.claimant, of: caller.partition, mayUseReserve: caller.mayAdminister)
    }
}
