import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// Both run in another process, `vault-torture`: a limit and a mount apply to a whole process. The checks are there; it exits
/// with status 0 if all of them passed.
@Suite("A vault on a full disk")
struct FullDiskTests {
    @Test(
        "a full file system keeps its records, and writing continues when there is space",
        .enabled(if: Prerequisite.root.shouldRun, "a file system of one's own needs root"))
    func fullFileSystem() async throws {
        try await withTestBed { bed in
            let directory = try bed.makeDirectory("small")
            let script = "mount -t tmpfs -o size=1m,mode=0700 none \"$1\" && exec \"$2\" full \"$1\""
            let tool = try PackageTree.program("vault-torture")
            let result = try await bed.run(
                Launch("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, "sh", directory, tool]))
            #expect(result.succeeded && result.output == "ok\n", "\(result)")
        }
    }

    @Test("a file size limit has the same effect")
    func sizeLimit() async throws {
        try await withTestBed { bed in
            let tool = try PackageTree.program("vault-torture")
            let result = try await bed.run(Launch(tool, ["limited", bed.path("state")]))
            #expect(result.succeeded && result.output == "ok\n", "\(result)")
        }
    }
}
