import BrokerTestSupport
import Foundation

/// A small file system that only the processes of one mount namespace see.
struct SmallDisk {
    var keeper: ManagedProcess
    var path: String
    /// The path by which other processes reach the same place.
    var outside: String { "/proc/\(keeper.pid)/root\(path)" }

    static func make(in bed: TestBed, size: String = "512k") async throws -> SmallDisk {
        try Prerequisite.root.require()
        let path = try bed.makeDirectory("disk")
        let script = #"mount -t tmpfs -o size=\#(size),mode=0700 none "$0" && echo mounted && exec sleep 600"#
        let arguments = ["--mount", "--propagation", "private", "sh", "-c", script, path]
        let keeper = try bed.start(Launch("unshare", arguments), as: "disk")
        try await keeper.waitForText("mounted")
        return SmallDisk(keeper: keeper, path: path)
    }

    /// Uses all remaining space.
    func fill() throws {
        let path = "\(outside)/filler"
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw ProcessFailure("\(path) cannot be made.")
        }
        let filler = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? filler.close() }
        for size in [65536, 4096, 1] { while (try? filler.write(contentsOf: Data(count: size))) != nil {} }
    }

    func free() throws { try FileManager.default.removeItem(atPath: "\(outside)/filler") }
}
