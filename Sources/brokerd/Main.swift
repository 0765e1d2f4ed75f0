import BrokerDaemon
import Glibc

@main
enum Main {
    static func main() async {
        // `CommandLine.arguments` has them mended where they are not UTF-8.
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
        let arguments = words.compactMap { word in
            word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        exit(await BrokerDaemon.run(arguments: arguments).rawValue)
    }
}
