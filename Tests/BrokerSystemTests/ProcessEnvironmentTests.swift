import BrokerSystem
import Foundation
import Testing

@Suite("Environment of this process")
struct ProcessEnvironmentTests {
    @Test("the environment has each variable with its whole value")
    func current() throws {
        let (variables, others) = (ProcessEnvironment.current(), ProcessInfo.processInfo.environment)
        #expect(!variables.isEmpty)
        #expect(variables == others)
        #expect(variables["PATH"] != nil)
    }
}
