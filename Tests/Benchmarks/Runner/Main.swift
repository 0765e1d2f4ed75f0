import BrokerTestSupport
import CEchoServer
import Foundation

/// `broker-bench`: measures the built programs beside it and prints what design and documents promise next to what is.
///
/// It is a figure of this machine at this moment: compare the ratios, which are taken in one run. With `--check` the
/// exit status is 1 when a budget is broken, with `--json` programs can read it, with `--storm` there is only the storm of
/// refreshes, and with `--held-up` only what is measured while somebody is held up: in a minute or two instead of many.
@main
enum Main {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "--echo" { return EchoServer.serve(Array(arguments.dropFirst())) }
        if arguments.first == "--provider" { return QuickProvider.serve(Array(arguments.dropFirst())) }
        do {
            let report = try await withTestBed { bed in
                var bench = Bench(in: bed)
                if arguments.contains("--storm") { return try await bench.runStorm() }
                return try await arguments.contains("--held-up") ? bench.runHeadOfLine() : bench.run()
            }
            print(arguments.contains("--json") ? report.json : report.text)
            exit(arguments.contains("--check") && report.isBroken ? 1 : 0)
        } catch {
            FileHandle.standardError.write(Data("broker-bench: \(error)\n".utf8))
            exit(2)
        }
    }
}
