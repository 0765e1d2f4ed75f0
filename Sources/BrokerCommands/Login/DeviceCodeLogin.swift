import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Synchronization

/// `brokerctl login --device-code`: shows the code, the page for it, and the time left.
struct DeviceCodeLogin: Sendable {
    let output: Output

    func run(
        _ params: AcquireTokenByDeviceCode.Params, at location: SocketLocation
    ) async throws(BrokerClientError) -> JSONNode {
        let countdown = Countdown(output: output)
        defer { countdown.stop() }
        return try await InteractiveSession.run(params, at: location) { code in
            show(code)
            if !output.json { countdown.start(until: code.expiresOn) }
        }
    }

    private func show(_ code: DeviceCodeOpening) {
        guard !output.json else {
            output.line(JSONText.line(JSONText.node(of: code), readable: false).trimmed)
            return
        }
        let screen = DeviceCodeScreen(code, on: StandardStream.error.terminalSize)
        output.aside(DeviceCodeScreen.headings.address)
        output.line(screen.address)
        if let warning = screen.warning { output.aside(warning) }
        output.aside(DeviceCodeScreen.headings.code)
        output.line(output.layout.style.strong(screen.userCode))
        let picture = screen.picture(isUTF8: Locale.isUTF8, setsColours: output.errorLayout.style.isOn)
        if !picture.isEmpty {
            output.aside(DeviceCodeScreen.headings.picture + "\n" + picture.joined(separator: "\n"))
        }
    }
}

/// The time left for the code: a line that a terminal redraws each second, printed once elsewhere.
private final class Countdown: Sendable {
    private let output: Output
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(output: Output) { self.output = output }

    func start(until end: NumericDate) {
        guard StandardStream.error.isTerminal else {
            StandardStream.error.write(
                DeviceCodeScreen.waiting(secondsLeft: end - Output.now, columns: nil) + "\n")
            return
        }
        let drawing = Task { [output] in
            while !Task.isCancelled, Output.now <= end {
                // Read each time, because windows change.
                let columns = StandardStream.error.terminalSize?.columns
                output.passing(DeviceCodeScreen.waiting(secondsLeft: end - Output.now, columns: columns))
                do { try await Task.sleep(for: .seconds(1)) } catch { return }
            }
        }
        task.withLock { $0 = drawing }
    }

    /// Clears the line.
    func stop() {
        guard let drawing = task.withLock({ $0 }) else { return }
        drawing.cancel()
        output.passing(nil)
    }
}
