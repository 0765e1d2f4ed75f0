import BrokerCommands
import CArguments
import Glibc

@main
enum Main {
    static func main() {
        // `CommandLine` would read them from /proc.
        let given = broker_arguments()
        Brokerctl.main(
            UnsafeBufferPointer(start: given.words, count: Int(given.count)).compactMap { word in
                word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
            })
    }
}
