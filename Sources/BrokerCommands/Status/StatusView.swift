import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// The broker's status, polled.
struct StatusView {
    let connection: DirectConnection
    let output: Output

    private static let interval = 1

    /// Runs until Ctrl-C or until its reader is gone, even while the broker is away. These calls do not keep it from locking itself.
    ///
    /// - Throws: if the first call fails.
    func run() throws(BrokerClientError) {
        var look = try StatusSnapshot.take(on: connection)
        let screen = output.json ? nil : LiveScreen()
        Interrupt.endBy { screen?.end() }
        while true {
            show(look, on: screen)
            guard StandardStream.lostOutput.load(ordering: .relaxed) == 0 else { return }
            Interrupt.sleep(seconds: Self.interval)
            do throws(BrokerClientError) {
                look = try StatusSnapshot.take(on: connection)
            } catch {
                look.failure = error
            }
        }
    }

    private func show(_ look: StatusSnapshot, on screen: LiveScreen?) {
        if let screen {
            screen.draw(StatusText.screen(look, socket: connection.location.path, at: Output.now), output.layout.style)
        } else if let failure = look.failure {
            output.failed(failure)
        } else if output.json {
            output.line(JSONText.line(look.node, readable: false).trimmed)
        } else {
            output.event(StatusText.line(look).clean, at: Output.now)
        }
    }
}
