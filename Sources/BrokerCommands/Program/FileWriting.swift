import Glibc

/// Creates a new file that only its owner may read.
///
/// - Parameter folder: the base of a relative path.
/// - Returns: its descriptor; negative on failure, with errno set.
func makePrivateFile(_ path: String, in folder: Int32 = AT_FDCWD) -> Int32 {
    openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
}

/// - Returns: whether everything was written; otherwise errno is set.
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
