import BrokerModel
import CCurl
import Glibc

/// The header lines of a request, as libcurl takes them. They may contain secrets, so they are wiped before they are freed.
final class HeaderLines {
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    /// `nil` if there is no memory.
    init?(_ headers: [HTTPHeader]) {
        // Without it, libcurl sends "Expect: 100-continue" before some bodies and waits a second for the answer.
        guard append("Expect:"), headers.allSatisfy(append) else { return nil }
    }

    deinit {
        var line = list
        while let current = line {
            if let data = current.pointee.data { explicit_bzero(data, strlen(data)) }
            line = current.pointee.next
        }
        curl_slist_free_all(list)
    }

    private func append(_ header: HTTPHeader) -> Bool {
        switch header.value {
        case .text(let text): return append("\(header.name): \(text)")
        case .secret(let secret):
            var line = Array("\(header.name): ".utf8)
            line.reserveCapacity(line.count + secret.count + 1)
            secret.withBytes { line.append(contentsOf: $0) }
            line.append(0)
            return line.withUnsafeMutableBytes { bytes in
                defer { if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) } }
                return append(bytes.bindMemory(to: CChar.self).baseAddress)
            }
        }
    }

    private func append(_ line: UnsafePointer<CChar>?) -> Bool {
        guard let longer = curl_slist_append(list, line) else { return false }
        list = longer
        return true
    }
}
