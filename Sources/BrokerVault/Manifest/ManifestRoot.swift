import BrokerModel

/// The pages of a partition, with the box of each.
package struct ManifestRoot: Sendable, Equatable {
    var pages: [UInt8: Fingerprint] = [:]

    init() {}

    package var bytes: [UInt8] {
        var bytes = CanonicalBytes(reserving: 1 + pages.count * (1 + Fingerprint.count))
        for (page, box) in pages.sorted(by: { $0.key < $1.key }) {
            bytes.append(page)
            box.append(to: &bytes)
        }
        return bytes.bytes
    }

    package init?(_ bytes: [UInt8]) {
        var reader = CanonicalReader(bytes)
        while !reader.isAtEnd {
            guard let page = reader.byte(), let box = reader.fingerprint() else { return nil }
            pages[page] = box
        }
    }
}
