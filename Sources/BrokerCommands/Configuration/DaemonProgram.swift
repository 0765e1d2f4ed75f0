import BrokerLink

/// The daemon that was installed with this program.
enum DaemonProgram {
    /// `nil` if there is none next to this program.
    static var path: String? { "/proc/self/exe".realPath.map { $0.folder + "/brokerd" } }

    /// The exit status and output of `brokerd --check-config`; `nil` if there is no such program.
    ///
    /// - Parameters:
    ///   - broker: the broker whose configuration to check.
    ///   - candidate: a file to read instead of the usual ones.
    static func checkConfiguration(
        of broker: TargetBroker, _ candidate: String? = nil
    ) -> (status: Int32, text: String)? {
        guard let path, path.realPath != nil else { return nil }
        return ChildProcess.report(of: broker.check(with: path, candidate), includingErrors: true, atMost: 1 << 20)
    }
}
