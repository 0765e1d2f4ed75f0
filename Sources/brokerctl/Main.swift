import BrokerCommands
import CArguments

@main
enum Main {
    static func main() {
        // `CommandLine` would read them from /proc.
        let given = broker_arguments()
        Brokerctl.main(
            UnsafeBufferPointer(start: given.words, count: Int(given.count)).compactMap {
                $0.map { String(cString: $0) }
            })
    }
}
