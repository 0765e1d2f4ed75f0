import BrokerTestSupport
import CEchoServer
import Foundation

/// The baseline: a C server, in a separate process, that sends the bytes of the broker's answer.
enum EchoServer {
    static func start(answering answer: [UInt8], in bed: TestBed) async throws -> (
        path: String, process: ManagedProcess
    ) {
        let file = bed.path(bed.unique("answer"))
        try Data(answer).write(to: URL(filePath: file))
        let path = bed.path(bed.unique("echo") + ".sock")
        let process = try bed.start(Launch("/proc/self/exe", ["--echo", path, file]), as: "echo")
        try await eventually("the echo server accepts") {
            try process.requireRunning()
            return FileManager.default.fileExists(atPath: path)
        }
        return (path, process)
    }

    /// The child's side; it is ended from outside.
    static func serve(_ arguments: [String]) {
        guard arguments.count == 2, let answer = FileManager.default.contents(atPath: arguments[1]) else { exit(2) }
        let code = [UInt8](answer).withUnsafeBufferPointer { echo_serve(arguments[0], $0.baseAddress, $0.count) }
        FileHandle.standardError.write(Data("echo: \(String(cString: strerror(code)))\n".utf8))
        exit(1)
    }
}
