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
    ///   - file: the one that is read instead of the usual ones.
    ///   - isSystem: whether the usual ones are those of a broker for the whole machine.
    static func checkConfiguration(_ file: String? = nil, isSystem: Bool = false) -> (status: Int32, text: String)? {
        guard let path else { return nil }
        return ChildProcess.report(
            of: [path, "--check-config"] + (isSystem ? ["--system"] : []) + (file.map { ["--config", $0] } ?? []),
            includingErrors: true,
            atMost: 1 << 20)
    }
}
