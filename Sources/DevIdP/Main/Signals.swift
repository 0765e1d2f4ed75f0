import Dispatch
import Glibc

/// Returns at SIGTERM or SIGINT, and, if requested, at the end of standard input: if the parent dies, in whatever way,
/// this process ends as well.
func endingSignal(orEndOfInput watchesInput: Bool) async {
    let (ended, end) = AsyncStream<Void>.makeStream()
    let sources = [SIGTERM, SIGINT].map { number in
        // The default action would end the process before the source sees the signal.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { end.finish() }
        source.resume()
        return source
    }
    if watchesInput {
        // A reading thread: not every input can be watched for events (/dev/null, a file).
        DispatchQueue.global().async {
            var buffer = [UInt8](repeating: 0, count: 256)
            while read(STDIN_FILENO, &buffer, buffer.count) > 0 {}
            end.finish()
        }
    }
    for await _ in ended {}
    for source in sources { source.cancel() }
}
