import BrokerDaemon
import Glibc

@main
enum Main {
    static func main() async {
        exit(await BrokerDaemon.run(arguments: Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
