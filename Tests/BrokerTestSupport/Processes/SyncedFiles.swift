import Foundation

/// The data stored by `Fixtures/synced-files.h`: contents of files, and for folders a line for each name, with mode and identity.
struct SyncedFiles: Sendable {
    let place: String

    func clear() throws {
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    }

    /// Replaces a folder's content with the synced state.
    func replace(_ folder: String) throws {
        // Nothing is stored if nothing was done.
        guard let root = try? String(contentsOfFile: "\(place)/root", encoding: .utf8) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        try fill(folder, with: root)
    }

    private func fill(_ folder: String, with identity: String) throws {
        // A folder whose names were never synced has none.
        let names = (try? String(contentsOfFile: "\(place)/\(identity)", encoding: .utf8)) ?? ""
        for line in names.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3, let mode = mode_t(words[0], radix: 8) else {
                throw ProcessFailure("\(place): \(line)")
            }
            let path = "\(folder)/\(words[2])"
            switch mode & S_IFMT {
            case S_IFDIR:
                guard mkdir(path, mode & 0o777) == 0 else { throw ProcessFailure("\(path): errno \(errno)") }
                try fill(path, with: words[1])
            case S_IFREG:
                // A file that was never synced is empty.
                let content = (try? Data(contentsOf: URL(filePath: "\(place)/\(words[1])"))) ?? Data()
                try content.write(to: URL(filePath: path))
                guard chmod(path, mode & 0o777) == 0 else { throw ProcessFailure("\(path): errno \(errno)") }
            default: continue
            }
        }
    }
}
