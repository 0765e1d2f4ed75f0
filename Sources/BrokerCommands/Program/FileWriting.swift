import Glibc

/// Creates a new file that only its owner may read.
///
/// - Parameter folder: the base of a relative path.
/// - Returns: its descriptor; negative on failure, with errno set.
func makePrivateFile(_ path: String, in folder: Int32 = AT_FDCWD) -> Int32 {
    openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
}
