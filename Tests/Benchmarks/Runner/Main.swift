import BrokerTestSupport
import CEchoServer
import Foundation

/// `broker-bench`: measures the built programs next to it and prints the documented goals next to the results.
///
/// The figures are of this machine at this moment: compare the ratios, which are taken in one run.
@main
enum Main {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--echo" { return EchoServer.serve(Array(arguments.dropFirst())) }
        if arguments.first == "--provider" { return QuickProvider.serve(Array(arguments.dropFirst())) }
        guard let options = Options(arguments) else { return end(2, Options.usage) }
        do {
            let report = try await withTestBed { bed in
                var bench = Bench(in: bed)
                switch options.part {
                case .all: return try await bench.run()
                case .cached: return try await bench.runCached()
                case .storm: return try await bench.runStorm()
                case .headOfLine: return try await bench.runHeadOfLine()
                }
            }
            print(report.text)
            if let file = options.file {
                try Data((report.json + "\n").utf8).write(to: URL(filePath: file), options: .atomic)
                print("The same for programs: \(file)")
            }
            exit(options.fails && report.isBroken ? 1 : 0)
        } catch {
            end(2, "broker-bench: \(error)")
        }
    }

    private static func end(_ status: Int32, _ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        exit(status)
    }
}

private struct Options {
    enum Part {
        case all, cached, storm, headOfLine
    }

    private(set) var part = Part.all
    private(set) var file: String?
    private(set) var fails = false

    static let usage = """
        usage: broker-bench [--cached | --storm | --held-up] [--json FILE] [--check]
          --cached    only cached tokens and whole programs, beside the C echo and oidc-agent
          --storm     only a thousand accounts that refresh at once
          --held-up   only what is measured while somebody is held up
          --json      write the report there, too, for programs
          --check     exit with 1 when a budget is broken
        """

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--cached": part = .cached
            case "--storm": part = .storm
            case "--held-up": part = .headOfLine
            case "--check": fails = true
            case "--json":
                guard let name = rest.popFirst() else { return nil }
                file = name
            default: return nil
            }
        }
    }
}
