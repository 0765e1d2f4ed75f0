import BrokerLink

/// The daemon that was installed with this program.
enum DaemonProgram {
    /// Nil when there is none beside this program.
    static var path: String? {
        guard let own = "/proc/self/exe".realPath, let slash = own.lastIndex(of: "/") else { return nil }
        return own[..<slash] + "/brokerd"
    }

    /// How `brokerd --check-config` ended, and what it said; nil when there is no such program.
    ///
    /// - Parameters:
    ///   - broker: whose configuration is meant.
    ///   - candidate: a file that is read instead of the usual ones.
    static func checkConfiguration(
        of broker: TargetBroker, _ candidate: String? = nil
    ) -> (status: Int32, text: String)? {
        guard let path, path.realPath != nil else { return nil }
        return ChildProcess.report(of: broker.check(with: path, candidate), includingErrors: true, atMost: 1 << 20)
    }
}
