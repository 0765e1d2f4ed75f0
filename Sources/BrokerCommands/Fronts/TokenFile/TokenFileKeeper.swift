import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Keeps a token file in line with the broker's current answer: a token that the broker would not give is removed.
struct TokenFileKeeper: ~Copyable {
    /// - Parameter minimum: seconds for which the token must still be good.
    typealias Ask = (_ minimum: Int64, DirectConnection) throws(BrokerClientError) -> TokenChoice.Credential

    private enum Wake: Sendable {
        case tick, connected, accountChanged, brokerWentAway, end
    }

    /// The polling interval for a locked broker or lost access to the app, for which there are no events.
    private static let pause = Duration.seconds(2)
    /// The delay in seconds after a temporary failure.
    private static let patience: Int64 = 30

    private var file: TokenFile
    private let app: String
    private let location: SocketLocation
    private let output: Output
    private let ask: Ask
    private let connection: DirectConnection
    /// For requests that are answered at once, because a wait for a hanging broker would block everything else.
    private let lookout: DirectConnection
    private var current: TokenChoice.Credential?
    /// How many seconds before its expiry the current token is replaced.
    private var lead: Int64 = 0
    /// The time of the next request; `nil` while only an event can change the answer.
    private var nextLook: NumericDate?
    /// Whether the broker is locked, or access to the app is denied.
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

    /// Returns after a signal.
    ///
    /// - Throws: if the first token cannot be obtained. Later failures are reported and retried.
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
            // Earlier events are not repeated, so check after each connect.
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
            // A call that needs no keys does not count as use, so an idle broker still locks itself.
            _ = try lookout.call(Subscribe.self, .init([], of: .registered(app)))
            isShutOut = false
        } catch {
            switch error.code {
            case .locked: isShutOut = true
            case .appNotFound, .accessDenied, .grantRequired: isShutOut = true
            // A lost broker is reported elsewhere.
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
            // A valid token remains useful while its provider is down.
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
            // Five minutes, or a quarter of a short lifetime.
            lead = max(0, min(300, (credential.expiresOn - now) / 4))
        }
        let due = credential.expiresOn - lead
        nextLook = due > now ? due : later
    }

    /// The time of a retry, at the latest when the current token expires.
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
