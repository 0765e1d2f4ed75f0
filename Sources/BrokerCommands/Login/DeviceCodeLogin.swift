import BrokerClient
import BrokerRPC
import BrokerValues
import Synchronization

/// `brokerctl login --device-code`: shows the code, where to type it, and how long that is still possible.
struct DeviceCodeLogin: Sendable {
    let output: Output

    func run(
        _ params: AcquireTokenByDeviceCode.Params, on connection: BrokerConnection
    ) async throws(BrokerClientError) -> JSONNode {
        let countdown = Countdown()
        defer { countdown.stop() }
        return try await InteractiveSession.run(params, on: connection) { code in
            show(code)
            if !output.json { countdown.start(until: code.expiresOn) }
        }
    }

    private func show(_ code: DeviceCodeOpening) {
        guard !output.json else {
            output.line(JSONText.line(JSONText.node(of: code), readable: false).trimmed)
            return
        }
        output.aside("Open this page on any device:")
        output.line("  " + code.verificationURI.clean)
        output.aside("and enter this code:")
        output.line("  " + output.style.strong(code.userCode.clean))
        let lines = DeviceCodeText.picture(
            of: code, columns: StandardStream.error.terminalColumns, isUTF8: Locale.isUTF8,
            setsColours: output.errorStyle.isOn)
        if !lines.isEmpty {
            output.aside("Or let a phone read this:\n" + lines.joined(separator: "\n"))
        }
    }
}

package enum DeviceCodeText {
    /// The address as a QR code: with the code in it, where the provider gives such a one.
    ///
    /// - Parameter columns: of the terminal; nil where there is none.
    /// - Returns: nothing where it could not be seen, or not be read.
    package static func picture(
        of code: DeviceCodeOpening, columns: Int?, isUTF8: Bool, setsColours: Bool
    ) -> [String] {
        guard let columns, isUTF8, let symbol = QRCode(code.verificationURIComplete ?? code.verificationURI)
        else { return [] }
        let picture = TerminalQRCode(symbol)
        return picture.width <= columns ? picture.lines(setsColours: setsColours) : []
    }

    package static func waiting(secondsLeft: Int64) -> String {
        let left = max(0, secondsLeft)
        let seconds = left % 60
        return "Waiting until you are done; \(left / 60):\(seconds < 10 ? "0" : "")\(seconds) left (Ctrl-C cancels)."
    }
}

/// How long the code is still good: a line that is drawn anew each second on a terminal, and said once elsewhere.
private final class Countdown: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func start(until end: NumericDate) {
        guard StandardStream.error.isTerminal else {
            StandardStream.error.write(DeviceCodeText.waiting(secondsLeft: end - Output.now) + "\n")
            return
        }
        let drawing = Task {
            while !Task.isCancelled, Output.now <= end {
                StandardStream.error.write(
                    "\r\u{1B}[K" + DeviceCodeText.waiting(secondsLeft: end - Output.now))
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
            }
        }
        task.withLock { $0 = drawing }
    }

    /// Leaves the line empty for what comes next.
    func stop() {
        guard let drawing = task.withLock({ $0 }) else { return }
        drawing.cancel()
        StandardStream.error.write("\r\u{1B}[K")
    }
}
