import CBrokerLinux
import Glibc

/// What the process does to itself before it holds a secret. Called once, first thing, before any thread starts.
package enum ProcessHardening {
    /// One measure and how it went.
    package struct Outcome: Sendable, Equatable {
        package var measure: Measure
        /// `errno`, nil when the measure holds.
        package var failure: Int32?
    }

    package enum Measure: String, Sendable, CaseIterable {
        /// PR_SET_DUMPABLE 0: not even the same user may attach or read `/proc/PID/mem`. It also hands `/proc/PID` to
        /// root, which is why nothing in the broker reads its own `/proc/self` by another process.
        case noInspection = "no inspection by other processes"
        case noCoreDumps = "no core dumps"
        /// A browser started from here cannot use a set-uid sandbox helper; Debian's browsers use user namespaces.
        case noNewPrivileges = "no new privileges"
        /// Only with an unlimited RLIMIT_MEMLOCK. Otherwise secrets alone are locked, each by its own guarded memory.
        case lockedMemory = "memory locked"
        /// No connection has a number that threads apart from the others copy (docs/decisions/0003).
        case ownDescriptors = "low descriptors kept"
    }

    /// Applies every measure, goes on after one that fails, and reports all of them.
    ///
    /// Besides the measures: umask 077, so that no file is born readable to others, and SIGPIPE ignored, so that a peer
    /// that hangs up is an error of one write, and SIGXFSZ, so that a limit of file sizes is a full disk and not the end. SIGCHLD
    /// is not ignored, also where whoever started this one did, so that it is known how a program ended.
    package static func apply() -> [Outcome] {
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
        return Measure.allCases.map { Outcome(measure: $0, failure: $0.apply()) }
    }
}

extension ProcessHardening.Outcome {
    /// Whether somebody should be told: without a limit lifted for us, locking all memory is not to be had.
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
