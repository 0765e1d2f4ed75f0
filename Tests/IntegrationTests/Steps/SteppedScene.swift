import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// A broker that can be ended, or whose disk can fail, at every single step of its work.
struct SteppedScene {
    var scene: DevelopmentScene
    private let points: FaultPoints
    private let wrapper: [String]

    /// The outcome of a run with one failing step.
    struct Outcome {
        var step: Int
        /// Why no success was reported; `nil` if it was.
        var error: (any Error)?
        /// Whether that step was reached.
        var struck: Bool

        var wasReported: Bool { error == nil }
    }

    static func make(
        in bed: TestBed, environment: [String: String] = [:], policy: (inout TokenPolicy) -> Void = { _ in }
    ) async throws -> SteppedScene {
        let state = try bed.makeDirectory("state")
        let points = try await FaultPoints.make(watching: state, in: bed)
        // The home is below the watched folder, because it contains the key.
        let wrapper = points.wrapper + ["HOME=\(state)/home"] + environment.map { "\($0.key)=\($0.value)" }
        let scene = try await DevelopmentScene.make(in: bed, policy: policy) {
            $0.stateDirectory = state
            $0.wrapper = wrapper
        }
        return SteppedScene(scene: scene, points: points, wrapper: wrapper)
    }

    /// Repeats the operation, and lets it fail one step later each time, until it succeeds. In between the broker is
    /// ended, wherever it stopped, and started again on a disk without faults.
    ///
    /// - Parameters:
    ///   - isEndedGently: whether the broker's actions at its end are part of the steps. There are many of them (the log
    ///     is written back into the vault), usually the same.
    ///   - prepare: creates the initial state of `operate`; nothing fails there.
    ///   - operate: throws if the broker does not report success.
    ///   - check: verifies what must hold after every step.
    /// - Returns: the number of steps.
    @discardableResult
    mutating func failAtEveryStep(
        _ fault: FaultPoints.Fault, endingGently isEndedGently: Bool = false,
        prepare: (DevelopmentScene) async throws -> Void = { _ in },
        operate: (DevelopmentScene) async throws -> Void,
        check: (DevelopmentScene, Outcome) async throws -> Void
    ) async throws -> Int {
        for step in 1...1_000 {
            try await prepare(scene)
            try points.arm(fault, at: step)
            var outcome = Outcome(step: step, error: nil, struck: false)
            do { try await operate(scene) } catch { outcome.error = error }
            let wrapper = wrapper
            if fault == .powerCutLater, outcome.error != nil, try points.hasStruck {
                await scene.broker.stop()
                try await scene.startAgain { $0.wrapper = wrapper }
                outcome.error = nil
                do { try await operate(scene) } catch { outcome.error = error }
                await scene.broker.kill()
            }
            if isEndedGently { await scene.broker.stop() } else { await scene.broker.kill() }
            outcome.struck = try points.hasStruck
            try points.disarm()
            try await scene.startAgain { $0.wrapper = wrapper }
            do {
                try await check(scene, outcome)
            } catch {
                throw ProcessFailure("\(fault) at step \(step), \(outcome): \(error)")
            }
            if !outcome.struck {
                try #require(outcome.wasReported, "without a fault it succeeds: \(outcome)")
                return step - 1
            }
        }
        throw ProcessFailure("It does not come to an end.")
    }
}
