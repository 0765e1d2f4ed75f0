import BrokerCommands

@main
enum Main {
    static func main() {
        Brokerctl.main(CommandLine.arguments)
    }
}
