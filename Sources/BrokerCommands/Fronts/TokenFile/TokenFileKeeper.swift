import BrokerLink
import BrokerRPC
import BrokerValues

/// Keeps a token file as the broker would answer at that moment: what the broker does not stand behind is not there.
struct TokenFileKeeper: ~Copyable {
    /// - Parameter minimum: seconds for which the token must still be good.
    typealias Ask = (_ minimum: Int64, DirectConnection) throws(BrokerClientError) -> TokenChoice.Credential

    private enum Wake: Sendable {
        case tick, connected, accountChanged, brokerWentAway, end
    }

    /// How soon it is noticed that the broker is locked, or the app is no longer ours: nobody is told of that.
    private static let pause = Duration.seconds(2)
    /// After a failure that may pass by itself.
    private static let patience: Int64 = 30

    private var file: TokenFile
    private let app: String
    private let location: SocketLocation
    private let output: Output
    private let ask: Ask
    private let connection: DirectConnection
    /// For what is answered at once: while one waits for a broker that stands still, nothing else is noticed.
    private let lookout: DirectConnection
    private var current: TokenChoice.Credential?
    /// How long before its end the current token is replaced.
    private var lead: Int64 = 0
    /// When to ask again by itself; nil while only an event can change the answer.
    private var nextLook: NumericDate?
    /// Whether the broker is locked, or we may not act as the app.
    private var isShutOut = false
    private var said: String?

    init(
        file: consuming TokenFile, app: String, location: SocketLocation, output: Output, ask: @escaping Ask
    ) {
        self.file = file
        self.app = app
        self.location = location
        self.output = output
        self.ask = ask
        connection = DirectConnection(location: location, answerTimeout: .seconds(120))
        lookout = DirectConnection(location: location, answerTimeout: .seconds(5))
    }

    /// Returns when a signal asks for it.
    ///
    /// - Throws: what keeps the first token from being had. Later failures are told, and waited out.
    mutating func run() async throws(BrokerClientError) {
        let (wakes, waker) = AsyncStream.makeStream(of: Wake.self)
        Interrupt.onInterrupt { waker.yield(.end) }
        try give()
        output.aside("Keeping a token of \(app.clean) in \(file.path.clean).")
        let (app, location) = (app, location)
        let helpers = [
            Task { await Self.follow(app, at: location, waker) },
            Task { while (try? await Task.sleep(for: Self.pause)) != nil { waker.yield(.tick) } },
        ]
        for await wake in wakes {
            switch wake {
            case .end:
                for helper in helpers { helper.cancel() }
                return withhold()
            // What happened before is not told again.
            case .connected, .accountChanged: look()
            case .brokerWentAway:
                (nextLook, isShutOut) = (nil, false)
                withhold(because: "The broker went away.")
            case .tick: if current != nil || isShutOut || nextLook != nil { tick() }
            }
        }
    }

    private static func follow(
        _ app: String, at location: SocketLocation, _ waker: AsyncStream<Wake>.Continuation
    ) async {
        repeat {
            do {
                let events = try await location.events(Subscribe.Params([.account], of: .registered(app)))
                waker.yield(.connected)
                for try await _ in events { waker.yield(.accountChanged) }
            } catch {}
            waker.yield(.brokerWentAway)
        } while (try? await Task.sleep(for: pause)) != nil
    }

    private mutating func tick() {
        let wasShutOut = isShutOut
        do throws(BrokerClientError) {
            // A question that works without keys is no use of the broker: one that locks itself when idle still does.
            _ = try lookout.call(Subscribe.self, .init([], of: .registered(app)))
            isShutOut = false
        } catch {
            switch error.code {
            case .locked: isShutOut = true
            case .appNotFound, .accessDenied, .grantRequired: isShutOut = true
            // That the broker went away is told elsewhere.
            default: return
            }
            return withhold(because: error.code == .locked ? "The broker is locked." : error.message)
        }
        if wasShutOut || (nextLook ?? .max) <= Output.now { look() }
    }

    private mutating func look() {
        do throws(BrokerClientError) {
            try give()
        } catch {
            switch error.code {
            case .interactionRequired, .accountNotFound, .ambiguousAccount: nextLook = nil
            default: nextLook = later
            }
            // A token that is still good is of use while its provider is away.
            guard !error.isRetryable || (current?.expiresOn ?? 0) <= Output.now else { return }
            withhold(because: error.message)
        }
    }

    private mutating func give() throws(BrokerClientError) {
        let credential = try ask(current == nil ? 0 : lead + 1, connection)
        let now = Output.now
        if credential != current {
            try file.write(credential.token)
            if said != nil { output.aside("There is a token in \(file.path.clean) again.") }
            (current, said) = (credential, nil)
            // Five minutes, and of a short life a quarter.
            lead = max(0, min(300, (credential.expiresOn - now) / 4))
        }
        let due = credential.expiresOn - lead
        nextLook = due > now ? due : later
    }

    /// A while from now, but not after the current token's end.
    private var later: NumericDate {
        let (now, end) = (Output.now, current?.expiresOn ?? .max)
        return end > now ? min(now + Self.patience, end) : now + Self.patience
    }

    private mutating func withhold(because reason: String? = nil) {
        file.remove()
        current = nil
        guard let reason, reason != said else { return }
        said = reason
        output.aside("brokerctl: \(reason.clean) There is no token in \(file.path.clean) until that changes.")
    }
}
