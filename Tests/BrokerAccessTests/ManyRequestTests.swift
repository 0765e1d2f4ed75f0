import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// Callers that multiply and ask in any order, while a person refuses now and then.
@Suite("Requests of multiplied callers")
struct ManyRequestTests {
    private static let partition = AccessBed.partition

    /// Gives the same numbers for the same seed; the high bits are the better ones.
    private struct Numbers {
        var state: UInt64

        mutating func next(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
    }

    @Test(
        "no request displaces another, a refused one is not reported, and the limits always hold",
        arguments: 1...8 as ClosedRange<UInt64>)
    func generated(seed: UInt64) async throws {
        let scene = try await GrantScene()
        for number in 0..<12 {
            try await scene.bed.directory.register(AccessBed.app("app-\(number)"), in: Self.partition)
        }
        let news = Recorder<GrantEvent>()
        let subscription = scene.bed.grants.subscribe(in: Self.partition) { news.add($0) }
        var numbers = Numbers(state: seed)
        var (standing, unnamed) = (Set<String>(), Set<String>())
        var maximumUnnamed = 0
        for step in 0..<400 {
            if numbers.next(below: 16) == 0, let request = standing.sorted().first {
                try scene.bed.grants.deny(request: request, in: Self.partition)
                standing.remove(request)
                unnamed.remove(request)
            }
            let isNamed = numbers.next(below: 2) == 0
            let place = numbers.next(below: 24)
            let caller = try scene.bed.caller {
                $0.rootMount = .other
                $0.attestedName = isNamed ? "flatpak:org.example.Game\(place)" : nil
                $0.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/run-\(place).scope")
            }
            let before = news.all.count { $0.change == .requested }
            let error = scene.refusal(of: caller, app: "app-\(numbers.next(below: 12))")
            let told = news.all.count { $0.change == .requested } - before
            if let request = error?.details.grantRequest, error?.kind == .grantRequired {
                #expect(told == (standing.insert(request).inserted ? 1 : 0), "seed \(seed), step \(step)")
                if !isNamed { unnamed.insert(request) }
            } else {
                #expect(told == 0 && error != nil, "seed \(seed), step \(step)")
            }
            let listed = Set(try scene.bed.grants.list(in: Self.partition).requests.map(\.id))
            #expect(listed == standing, "seed \(seed), step \(step)")
            maximumUnnamed = max(maximumUnnamed, unnamed.count)
            #expect(unnamed.count <= 16 && listed.count <= 64, "seed \(seed), step \(step)")
        }
        #expect(maximumUnnamed == 16)
        withExtendedLifetime(subscription) {}
    }
}
