import Foundation

/// The clocks of a program, which a test moves while it runs (`Fixtures/moved-clock.c`).
package struct MovedClock: Sendable {
    /// Starts a program with these clocks; the program follows as arguments.
    package let wrapper: [String]
    private let file: String

    package init(in bed: TestBed) async throws {
        let library = bed.path(bed.unique("moved-clock") + ".so")
        let compiled = try await bed.run(
            Launch("cc", ["-shared", "-fPIC", "-O1", "-o", library, PackageTree.fixture("moved-clock.c")]))
        guard compiled.succeeded else { throw ProcessFailure("moved-clock.c cannot be compiled: \(compiled)") }
        file = bed.path(bed.unique("clock"))
        try Data(count: 16).write(to: URL(filePath: file))
        wrapper = ["env", "LD_PRELOAD=\(library)", "MOVED_CLOCK=\(file)"]
    }

    /// Sets the wall clock to this many seconds from the real time.
    package func set(to seconds: Int64) throws { try write(seconds, at: 0) }

    /// The machine has slept for this many seconds in total: both clocks have advanced.
    package func sleep(for seconds: Int64) throws {
        try write(seconds, at: 0)
        try write(seconds, at: 8)
    }

    private func write(_ seconds: Int64, at offset: off_t) throws {
        let descriptor = open(file, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let written = withUnsafeBytes(of: seconds) { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
        guard written == 8 else { throw ProcessFailure("\(file) cannot be written: errno \(errno)") }
    }
}
