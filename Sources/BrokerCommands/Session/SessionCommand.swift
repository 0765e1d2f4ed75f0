import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerSystem
import Glibc

struct SessionCommand: WaitingSubcommand {
    static var about: About {
        About(
            "session", "Show the broker's questions as notifications on this desktop.",
            """
            Notifies you when a program asks for an app that it may not use yet, and when a provider has ended a \
            sign-in, with buttons to answer or to sign in. Also shows for which other machine (brokerctl ssh) a \
            sign-in page was opened. With several sessions, the active one asks. The unit brokerd-session.service runs \
            it in graphical sessions.

            Examples:
              brokerctl session --stay
            """)
    }

    var global = GlobalOptions()
    var stay = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.flag(
            "stay", &stay,
            "Keep running without a broker, and look for one from time to time: for desktops without systemd.")
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        let session = await DesktopSession.own()
        guard session.claim() else { return output.aside("Another one is already running in this session.") }
        let presenter = NotificationPresenter(location, SessionTurn(session)) { output.aside($0) }
        // A stopped unit exits with success.
        Interrupt.onInterrupt {
            Task {
                await presenter.clear()
                Glibc.exit(0)
            }
        }
        while true {
            do throws(BrokerClientError) {
                try await follow(location, presenter)
            } catch {
                guard stay else { throw error }
                output.failed(error)
            }
            await presenter.clear()
            // A restarted broker is back by then. If it was stopped, systemd stops this program as well.
            try? await Task.sleep(for: stay ? .seconds(10) : .seconds(2))
        }
    }

    /// Returns when the broker disconnects.
    private func follow(
        _ location: SocketLocation, _ presenter: NotificationPresenter
    ) async throws(BrokerClientError) {
        let events = try await location.events(Subscribe.Params([.grant, .token, .account, .interaction]))
        var showsAll = try await showsOpenRequests(presenter)
        do {
            for try await event in events {
                if !showsAll { showsAll = try await showsOpenRequests(presenter) }
                await presenter.take(event)
            }
        } catch {}
    }

    /// - Returns: false if the broker is locked: the next event is another attempt.
    private func showsOpenRequests(_ presenter: NotificationPresenter) async throws(BrokerClientError) -> Bool {
        do throws(BrokerClientError) {
            try await presenter.showOpenRequests()
            return true
        } catch {
            guard error.code == .locked else { throw error }
            return false
        }
    }
}
