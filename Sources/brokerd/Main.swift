import BrokerDaemon
import CArguments
import Glibc

@main
enum Main {
    /// Runs on the main thread: the first thread of the pool would log before the body begins.
    @MainActor static func main() async {
        // The pool's threads request a priority that a user's process cannot get, and each logs this in the journal.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // `CommandLine` would read them from /proc, and `CommandLine.arguments` repairs invalid UTF-8.
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
