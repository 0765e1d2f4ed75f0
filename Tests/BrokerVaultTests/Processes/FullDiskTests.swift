import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

/// Both run in a process of their own, `vault-torture`: a limit and a mount belong to a whole process. What is checked
/// stands there; it ends with status 0 if all of it held.
@Suite("When nothing more can be written")
struct FullDiskTests {
    @Test(
        "a full file system keeps what it has, and writing goes on when there is space",
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

    @Test("a file that may not grow is no different")
    func sizeLimit() async throws {
        try await withTestBed { bed in
            let tool = try PackageTree.program("vault-torture")
            let result = try await bed.run(Launch(tool, ["limited", bed.path("state")]))
            #expect(result.succeeded && result.output == "ok\n", "\(result)")
        }
    }
}
