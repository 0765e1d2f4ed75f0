import BrokerDaemon
import Glibc

@main
enum Main {
    /// On the main thread: the first thread of the pool would log before the body begins.
    @MainActor static func main() async {
        // The pool's threads ask for a priority that a person's process does not get, and each says so in the journal.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        // `CommandLine.arguments` has them mended where they are not UTF-8.
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
        let arguments = words.compactMap { word in
            word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
        exit(await BrokerDaemon.run(arguments: arguments).rawValue)
    }
}
