import Glibc

/// Actions on a vault that a test cannot do in its own process. Used by BrokerVaultTests:
///
///     vault-torture loop DIR FIRST       writes pairs, says so, and waits to be killed
///     vault-torture open DIR             opens a vault, and closes it
///     vault-torture full DIR             DIR is a small file system of its own: fills it
///     vault-torture limited DIR          runs into a file size limit
///     vault-torture measure DIR          prints what the hot path costs; for a release build, by hand
@main
enum Main {
    static func main() async {
        let arguments = CommandLine.arguments
        do {
            guard arguments.count >= 3 else {
                throw Failure("usage: vault-torture loop|open|full|limited|measure DIR [FIRST|COUNT]")
            }
            switch arguments[1] {
            case "loop": try await writeLoop(in: arguments[2], from: arguments.count > 3 ? Int64(arguments[3]) ?? 1 : 1)
            case "open": await (try await openVault(arguments[2])).close()
            case "full": try await fillFileSystem(in: arguments[2])
            case "limited": try await reachSizeLimit(in: arguments[2])
            case "measure":
                try await measure(in: arguments[2], count: arguments.count > 3 ? Int(arguments[3]) ?? 10_000 : 10_000)
            default: throw Failure("unknown: \(arguments[1])")
            }
            say("ok")
        } catch {
            say("failed: \(error)")
            exit(1)
        }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Written immediately and unbuffered, so that a kill loses nothing.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}
