import Glibc
import Hummingbird
import NIOCore

/// A request's context: its connection, for faults, and its parameters, read once.
struct ProviderContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    var form = FormValues()
    /// The client's id of its operation (`client-request-id`).
    var correlationID: String?

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Thrown if there is no connection left for the response.
    struct ConnectionEnded: Error {}

    func closeConnection() async -> ConnectionEnded {
        try? await channel.close()
        return ConnectionEnded()
    }

    /// A linger time of zero makes the kernel send RST instead of FIN (socket(7)).
    func resetConnection() async -> ConnectionEnded {
        if let socket = channel as? any SocketOptionProvider {
            try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        return await closeConnection()
    }
}
