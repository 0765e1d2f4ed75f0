import Foundation

/// Counts what a program does to the files below one folder, and lets it end or fail at a given call: a library that is loaded
/// before all others (`Fixtures/fault-points.c`). It is compiled where it is used; a build with the programs would put it
/// into the package.
package struct FaultPoints: Sendable {
    package enum Fault: Sendable, Hashable, CustomStringConvertible {
        /// SIGKILL, before the call.
        case kill
        /// SIGKILL after half of a write.
        case killMidWrite
        /// This call fails, and no other.
        case failOnce(errno: Int32)
        /// This call fails, and all that follow. A full disk still lets files be removed, and one that became read-only be synced.
        case failFrom(errno: Int32)
        /// Half is written, and then there is no space left.
        case writeShort
        /// The call does not come back before everything succeeds again.
        case hang
        /// SIGKILL before the call, and what was not synced is lost: of a file what was written since, of a folder its names.
        /// Some file systems are quicker with names; then they are all there, and only what was written is lost.
        case powerCut(afterNames: Bool)

        package var description: String {
            switch self {
            case .kill: "SIGKILL"
            case .killMidWrite: "SIGKILL in the middle of a write"
            case .failOnce(let error): "\(String(cString: strerror(error))), once"
            case .failFrom(let error): "\(String(cString: strerror(error))), from then on"
            case .writeShort: "half a write, and then a full disk"
            case .hang: "a disk that does not answer"
            case .powerCut(let afterNames): afterNames ? "a power cut when names were written" : "a power cut"
            }
        }

        /// Fault, and its errno.
        fileprivate var words: (Int32, Int32) {
            switch self {
            case .kill: (1, 0)
            case .killMidWrite: (2, 0)
            case .failOnce(let error): (3, error)
            case .failFrom(let error): (4, error)
            case .writeShort: (5, ENOSPC)
            case .hang: (6, 0)
            case .powerCut(let afterNames): (afterNames ? 8 : 7, 0)
            }
        }

        /// Before the call and in the middle of it, and what a power cut may leave.
        package static let endings: [Fault] = [.kill, .killMidWrite] + powerCuts
        package static let powerCuts: [Fault] = [.powerCut(afterNames: false), .powerCut(afterNames: true)]

        /// The process ends by it.
        package var isEnding: Bool { Self.endings.contains(self) }
    }

    private let library: String
    private let control: String
    private let folder: String
    private let synced: SyncedFiles

    /// - Parameter folder: it is there already.
    package static func make(watching folder: String, in bed: TestBed) async throws -> FaultPoints {
        let place = try bed.makeDirectory("faults")
        let points = FaultPoints(
            library: "\(place)/points.so", control: "\(place)/control", folder: folder,
            synced: SyncedFiles(place: "\(place)/synced"))
        try points.write([0, 0, 0, 0, 0])
        let source = PackageTree.fixture("fault-points.c")
        try await bed.require("clang", ["-Wall", "-Werror", "-shared", "-fPIC", "-O1", "-o", points.library, source])
        return points
    }

    /// What a program is started with to be watched (``BrokerProcess/Options/wrapper``).
    package var wrapper: [String] {
        [
            "/usr/bin/env", "LD_PRELOAD=\(library)", "FAULT_CONTROL=\(control)", "FAULT_FOLDER=\(folder)",
            "FAULT_SYNCED=\(synced.place)",
        ]
    }

    /// - Parameter step: which call from now on; the first is 1.
    package func arm(_ fault: Fault, at step: Int) throws {
        let (kind, error) = fault.words
        try write([0, 0, 0, 0, 0])
        try synced.clear()
        try write([kind, Int32(step), error, 0, 0])
    }

    /// Everything succeeds again. With a power cut the power is off by now: the process must have ended, and the folder has what
    /// is left.
    package func disarm() throws {
        let fault = try read()[0]
        try write([0])
        if Fault.powerCuts.contains(where: { $0.words.0 == fault }) { try synced.replace(folder) }
    }

    /// Whether it came to that call.
    package var hasStruck: Bool {
        get throws { try read()[4] != 0 }
    }

    /// Calls since it was armed.
    package var seen: Int {
        get throws { Int(try read()[3]) }
    }

    private func read() throws -> [Int32] {
        let data = try Data(contentsOf: URL(filePath: control))
        return data.withUnsafeBytes { Array($0.bindMemory(to: Int32.self)) }
    }

    /// In place: the program has it mapped.
    private func write(_ words: [Int32]) throws {
        let descriptor = open(control, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ProcessFailure("\(control): errno \(errno)") }
        defer { close(descriptor) }
        let count = words.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == words.count * MemoryLayout<Int32>.size else {
            throw ProcessFailure("\(control): errno \(errno)")
        }
    }
}
