import BrokerLink
import BrokerRPC
import BrokerValues

/// How the broker is, looked at again and again.
struct StatusView {
    let connection: DirectConnection
    let output: Output

    private static let interval = 1

    /// Goes on until Ctrl-C, or until nobody reads any more; also while the broker is away. Nobody who asks keeps it from locking itself.
    ///
    /// - Throws: when the first look fails.
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
            output.line(JSONText.line(look.node, readable: false).trimmingEnd)
        } else {
            output.event(StatusText.line(look).clean, at: Output.now)
        }
    }
}

/// What one look found.
package struct StatusSnapshot {
    var node: JSONNode
    package var status: GetBrokerStatus.Result
    /// Nil for who may not read them.
    package var metrics: GetMetrics.Result?
    /// Why there was nothing newer to be seen.
    package var failure: BrokerClientError?

    static func take(on connection: DirectConnection) throws(BrokerClientError) -> StatusSnapshot {
        let node = try connection.result(of: GetBrokerStatus.self, .init())
        return StatusSnapshot(
            node: node, status: try .decoded(node), metrics: try? connection.call(GetMetrics.self, .init()))
    }
}

extension String {
    /// Without the end of its line.
    fileprivate var trimmingEnd: String { last == "\n" ? String(dropLast()) : self }
}
