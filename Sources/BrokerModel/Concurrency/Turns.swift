/// Runs one piece of work after the other.
package actor Turns {
    private var last: Task<Void, Never>?

    package init() {}

    package func run<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let before = last
        let mine = Task {
            await before?.value
            return await work()
        }
        last = Task { _ = await mine.value }
        return await mine.value
    }
}
