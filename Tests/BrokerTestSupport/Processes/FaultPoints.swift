import Foundation

/// Counts a program's operations on the files below one folder, and makes it end or fail at a given call: a library that is
/// preloaded (`Fixtures/fault-points.c`). It is compiled on use; building it with the programs would put it into the
/// package.
package struct FaultPoints: Sendable {
    package enum Fault: Sendable, Hashable, CustomStringConvertible {
        /// SIGKILL, before the call.
        case kill
        /// SIGKILL after half of a write. Only writes are steps.
        case killMidWrite
        /// This call fails, and no other. Only calls that can fail so are steps, here and below.
        case failOnce(errno: Int32)
        /// This call fails, and all that follow. A full disk still allows removing files, and a read-only one allows syncing.
        case failFrom(errno: Int32)
        /// Half is written, and then there is no space left. Only writes are steps.
        case writeShort
        /// The call does not return before everything succeeds again.
        case hang
        /// SIGKILL before the call, and unsynced data is lost: later writes of a file, names of a folder.
        /// Some file systems write names earlier; then all names exist, and only the written data is lost.
        case powerCut(afterNames: Bool)
        /// SIGKILL before the call. The test repeats the operation, and then unsynced data is lost.
        case powerCutLater

        package var description: String {
            switch self {
            case .kill: "SIGKILL"
            case .killMidWrite: "SIGKILL in the middle of a write"
            case .failOnce(let error): "\(String(cString: strerror(error))), once"
            case .failFrom(let error): "\(String(cString: strerror(error))), from then on"
            case .writeShort: "half a write, and then a full disk"
            case .hang: "a disk that does not answer"
            case .powerCut(let afterNames): afterNames ? "a power cut when names were written" : "a power cut"
            case .powerCutLater: "SIGKILL, and a power cut after a repetition"
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
            case .powerCutLater: Fault.powerCut(afterNames: false).words
            }
        }

        /// Before the call and in the middle of it, and the result of a power cut.
        package static let endings: [Fault] = [.kill, .killMidWrite] + powerCuts
        package static let powerCuts: [Fault] = [.powerCut(afterNames: false), .powerCut(afterNames: true)]

        /// The fault ends the process.
        package var isEnding: Bool { Self.endings.contains(self) || self == .powerCutLater }
    }

    private let library: String
    private let control: String
    private let folder: String
    private let synced: SyncedFiles

    /// - Parameter folder: it already exists.
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

    /// The environment and wrapper for watching a program (``BrokerProcess/Options/wrapper``).
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

    /// Everything succeeds again. After a power cut the process must have ended, and the folder gets
    /// the remaining data.
    package func disarm() throws {
        let fault = try read()[0]
        try write([0])
        if Fault.powerCuts.contains(where: { $0.words.0 == fault }) { try synced.replace(folder) }
    }

    /// Whether the program reached that call.
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
