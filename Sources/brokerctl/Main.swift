import BrokerCommands

@main
enum Main {
    static func main() {
        Brokerctl.main(Array(CommandLine.arguments.dropFirst()))
    }
}
