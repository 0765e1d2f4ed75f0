import CBrokerLinux
import Glibc

/// Protects the process before it holds a secret. Call it once, before any thread starts.
package enum ProcessHardening {
    /// One measure and its result.
    package struct Outcome: Sendable, Equatable {
        package var measure: Measure
        /// `errno`, or `nil` if the measure is in effect.
        package var failure: Int32?
    }

    package enum Measure: String, Sendable, CaseIterable {
        /// PR_SET_DUMPABLE 0: not even the same user may attach or read `/proc/PID/mem`. It also makes `/proc/PID` root's, which
        /// is why the broker never reads its own `/proc/self` through another process.
        case noInspection = "no inspection by other processes"
        case noCoreDumps = "no core dumps"
        /// A browser started from here cannot use a set-uid sandbox helper; Debian's browsers use user namespaces.
        case noNewPrivileges = "no new privileges"
        /// Only with an unlimited RLIMIT_MEMLOCK. Otherwise secrets alone are locked, each by its own guarded memory.
        case lockedMemory = "memory locked"
        /// Connections get no descriptor number that separated threads copy (docs/decisions/0003).
        case ownDescriptors = "low descriptors kept"
    }

    /// Applies every measure, continues after a failure, and reports all of them.
    ///
    /// It also sets umask 077, so that no file is created readable to others. It ignores SIGPIPE, so that a peer that hangs up is
    /// an error of one write, and SIGXFSZ, so that a file size limit counts as a full disk and does not end the process. It
    /// restores the default of SIGCHLD, which the parent process may have ignored, so that the exit status of programs is known.
    package static func apply() -> [Outcome] {
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
        return Measure.allCases.map { Outcome(measure: $0, failure: $0.apply()) }
    }
}

extension ProcessHardening.Outcome {
    /// Whether to warn: without a raised limit, locking all memory is not possible.
    package var isWorthAWarning: Bool {
        guard let failure else { return false }
        return !(measure == .lockedMemory && failure == EPERM)
    }
}

extension ProcessHardening.Measure {
    fileprivate func apply() -> Int32? {
        let failure =
            switch self {
            case .noInspection: broker_forbid_inspection()
            case .noCoreDumps: broker_forbid_core_dumps()
            case .noNewPrivileges: broker_forbid_new_privileges()
            case .lockedMemory: broker_lock_memory()
            case .ownDescriptors: broker_keep_low_descriptors()
            }
        return failure == 0 ? nil : failure
    }
}
