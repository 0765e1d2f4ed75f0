import Glibc

/// The fuzzing targets: each reads bytes from outside. `FUZZ` in the environment names one.
private let readers: [String: @Sendable (UnsafeRawBufferPointer) -> Void] = [
    "requests": readRequest,
    "lines": readLines,
    "metadata": ProviderReading.metadata,
    "tokens": ProviderReading.tokens,
    "idtokens": ProviderReading.idToken,
    "redirects": readRedirect,
    "claims": readClaims,
    "configuration": readConfiguration,
    "apps": readApps,
    "msal": readUnifiedCache,
    "records": readRecords,
    "manifest": readManifest,
    "nonces": readNonces,
    "challenges": readChallenge,
    "agents": readAgentExchange,
    "backup": readBackup,
    "texts": readText,
]

/// Set once, before the driver starts.
nonisolated(unsafe) private var reader: @Sendable (UnsafeRawBufferPointer) -> Void = { _ in }

/// The package manager gives an executable's entry this name and calls it `main` when linking; libFuzzer's own `main`
/// is then left out, and its driver is started here.
@_cdecl("Fuzzer_main")
public func runFuzzer(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    let name = getenv("FUZZ").map { String(cString: $0) } ?? ""
    guard let chosen = readers[name] else {
        print("FUZZ is one of: \(readers.keys.sorted().joined(separator: " "))")
        return name.isEmpty ? 0 : 2
    }
    reader = chosen
    var (count, arguments) = (count, arguments)
    return startDriver(&count, &arguments, fuzzOne)
}

@_silgen_name("LLVMFuzzerRunDriver")
private func startDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// libFuzzer calls this with each input.
///
/// - Returns: 0; an error ends the process instead.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    reader(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}
