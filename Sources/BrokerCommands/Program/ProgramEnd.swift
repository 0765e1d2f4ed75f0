import BrokerCommandLine
import BrokerSystem
import Glibc

extension ExitStatus {
    /// Ends the program with this status. Output that was lost, to a full disk or a closed descriptor, counts as failure.
    func endProcess() -> Never {
        let signal = Interrupt.received.load(ordering: .relaxed)
        if self == .failed, signal != 0 { exit(128 + signal) }
        let lost = StandardStream.lostOutput.load(ordering: .relaxed)
        guard self == .done, lost != 0 else { exit(rawValue) }
        let text = "brokerctl: Standard output could not be written: \(errnoText(lost))."
        StandardStream.error.write(Layout.of(.error).prose(text) + "\n")
        exit(ExitStatus.failed.rawValue)
    }
}
