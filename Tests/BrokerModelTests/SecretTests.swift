import BrokerModel
import BrokerTestSupport
import Foundation
import Testing

@Suite("A secret")
struct SecretTests {
    @Test("a secret shows nothing in any printed form")
    func redacted() {
        struct Holder {
            var name = "holder"
            var secret = Secret("hunter2")
        }
        let holder = Holder()
        var dumped = ""
        dump(holder, to: &dumped)
        let texts = [
            "\(holder)", "\(holder.secret)", String(reflecting: holder), String(reflecting: holder.secret),
            String(describing: Optional(holder.secret)), "\([holder.secret])", dumped,
        ]
        for text in texts {
            #expect(text.contains("secret"))
            #expect(!text.contains("hunter2"))
        }
        #expect(Mirror(reflecting: holder.secret).children.isEmpty)
        #expect(holder.secret.revealed() == "hunter2")
    }

    @Test("secrets are equal only if their bytes are")
    func equality() {
        #expect(Secret("abc") == Secret("abc"))
        #expect(Secret("abc") != Secret("abd"))
        #expect(Secret("abc") != Secret("ab"))
        #expect(Secret("") == Secret(""))
        #expect(Secret("") != Secret("a"))
        #expect(Secret("é") != Secret("e\u{301}"), "bytes count, not what they look like")
    }

    @Test("a secret of any length keeps its bytes", arguments: [0, 1, 15, 16, 4095, 4096, 70_000])
    func content(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let secret = bytes.withUnsafeBytes { Secret(copying: $0) }
        #expect(secret.count == count)
        #expect(secret.isEmpty == (count == 0))
        #expect(secret.withBytes { Array($0) } == bytes)
        let filled = Secret(count: count) { $0.copyBytes(from: bytes) }
        #expect(filled == secret)
    }

    @Test("random secrets are never equal")
    func random() {
        let secrets = (0..<50).map { _ in Secret.random(count: 32).withBytes { Array($0) } }
        #expect(Set(secrets).count == 50)
        #expect(secrets.allSatisfy { $0.count == 32 })
    }

    @Test("revealed() repairs invalid UTF-8")
    func invalidText() {
        let secret = [0x61, 0xFF, 0x62].withUnsafeBytes { _ in
            Secret(count: 3) { $0.copyBytes(from: [0x61, 0xFF, 0x62] as [UInt8]) }
        }
        #expect(secret.revealed() == "a\u{FFFD}b")
    }

    @Test("an error of the closure is passed on")
    func throwing() {
        struct Refused: Error {}
        #expect(throws: Refused.self) { try Secret("a").withBytes { _ throws(Refused) in throw Refused() } }
    }

    @Test("a secret is in read-only memory, left out of core dumps, with a guard page behind it")
    func guarded() throws {
        let secret = Secret(String(repeating: "s", count: 5_000))
        try secret.withBytes { bytes in
            let first = UInt(bitPattern: bytes.baseAddress)
            let regions = try Region.all()
            let region = try #require(regions.first { $0.contains(first) })
            #expect(region.contains(first + UInt(bytes.count) - 1))
            #expect(region.permissions == "r--p")
            #expect(region.flags.contains("dd"), "not in a core dump")
            #expect(region.end == first + UInt(bytes.count), "the fence starts where the secret ends")
            let fence = try #require(regions.first { $0.contains(region.end) })
            #expect(fence.permissions == "---p")
        }
    }

    @Test("small long-lived secrets share pages that are guarded like a large one's")
    func shared() async throws {
        let secret = Secret("hunter2").kept
        #expect(secret.revealed() == "hunter2" && secret.kept === secret)
        let place = secret.withBytes { UInt(bitPattern: $0.baseAddress) }
        // Other tests make secrets at the same time, and a new one opens its pages for that moment.
        try await eventually("the pages are closed") {
            try Region.all().first { $0.contains(place) }?.permissions == "r--p"
        }
        let region = try #require(try Region.all().first { $0.contains(place) })
        #expect(region.flags.contains("dd"), "not in a core dump")
        let fence = try #require(try Region.all().first { $0.contains(region.end) })
        #expect(fence.permissions == "---p")
    }

    @Test("secrets of a request share pages that stay writable but are otherwise guarded")
    func passing() throws {
        let secret = Secret(String(repeating: "s", count: 3_000))
        let place = secret.withBytes { UInt(bitPattern: $0.baseAddress) }
        let region = try #require(try Region.all().first { $0.contains(place) })
        #expect(region.permissions == "rw-p")
        #expect(region.flags.contains("dd"), "not in a core dump")
        #expect(region.flags.contains("lo"), "not in swap")
        let fence = try #require(try Region.all().first { $0.contains(region.end) })
        #expect(fence.permissions == "---p")
    }

    @Test("a reused place contains nothing of the previous secret")
    func reused() {
        var places: Set<UInt> = []
        for _ in 0..<2_000 {
            let secret = Secret(count: 700) { bytes in
                #expect(!bytes.contains(UInt8(ascii: "x")))
                bytes.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "x"))
            }
            secret.withBytes { _ = places.insert(UInt(bitPattern: $0.baseAddress)) }
        }
        #expect(places.count < 2_000)
    }

    @Test("many secrets take few mappings, so a caller cannot use them up")
    func many() throws {
        let before = try mappings()
        let secrets = (0..<20_000).map { Secret("secret \($0)") }
        #expect(try mappings() - before < 2_000)
        #expect(secrets.enumerated().allSatisfy { $1 == Secret("secret \($0)") })
    }

    @Test("many threads can make secrets at once")
    func concurrent() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).allSatisfy { round in
                        let kept = (0..<8).map { Secret("\(task) \(round) \($0)") }
                        return kept.enumerated().allSatisfy { $1.revealed() == "\(task) \(round) \($0)" }
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    /// A line of /proc/self/smaps with its `VmFlags`.
    private struct Region {
        var start: UInt
        var end: UInt
        var permissions: String
        var flags: [String] = []

        func contains(_ address: UInt) -> Bool { start <= address && address < end }

        static func all() throws -> [Region] {
            var regions: [Region] = []
            // String(contentsOfFile:) reads only the first page of such a file.
            let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/smaps"))
            let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.first == "VmFlags:", !regions.isEmpty {
                    regions[regions.count - 1].flags = words.dropFirst().map(String.init)
                }
                let bounds = words[0].split(separator: "-")
                guard bounds.count == 2, let start = UInt(bounds[0], radix: 16), let end = UInt(bounds[1], radix: 16)
                else { continue }
                regions.append(Region(start: start, end: end, permissions: String(words[1])))
            }
            return regions
        }
    }
}
