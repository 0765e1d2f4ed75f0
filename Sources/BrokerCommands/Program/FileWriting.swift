import Glibc

/// Makes a file that nobody but its owner may read, and that was not there.
///
/// - Parameter folder: where a relative path begins.
/// - Returns: its descriptor; below 0 where errno says why there is none.
func makePrivateFile(_ path: String, in folder: Int32 = AT_FDCWD) -> Int32 {
    openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
}

/// - Returns: whether all of it is written; otherwise errno says why not.
func writeAll(_ bytes: some Sequence<UInt8>, to descriptor: Int32) -> Bool {
    Array(bytes).withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }
}
