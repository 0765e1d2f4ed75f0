import BrokerDaemon
import CArguments
import Glibc

@main
enum Main {
    /// On the main thread: the first thread of the pool would log before the body begins.
    @MainActor static func main() async {
        // The pool's threads ask for a priority that a person's process does not get, and each says so in the journal.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // `CommandLine` reads them from /proc; and `CommandLine.arguments` has them mended where they are not UTF-8.
        let given = broker_arguments()
        let words = UnsafeBufferPointer(start: given.words, count: Int(given.count)).dropFirst()
        let arguments = words.compactMap { word in
            word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        switch BrokerDaemon.begin(arguments: arguments) {
        case .ended(let status): exit(status.rawValue)
        case .serving(let command): exit(await BrokerDaemon.serve(command).rawValue)
        }
    }
}
