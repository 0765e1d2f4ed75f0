import Foundation

/// The kernel's figures of a process's memory (proc(5), `status`).
package enum ProcessMemory: String {
    case resident = "VmRSS"
    case anonymous = "RssAnon"
    case peak = "VmHWM"

    /// In megabytes of 2^20.
    package func megabytes(of pid: pid_t) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(rawValue):") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) })
        else { throw ProcessFailure("The kernel does not tell \(rawValue) of \(pid).") }
        return kilobytes / 1024
    }
}

package enum ProcessDescriptors {
    /// The number of open descriptors of a process (proc(5), `fd`).
    package static func count(of pid: pid_t) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
