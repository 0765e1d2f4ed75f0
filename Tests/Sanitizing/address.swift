import Dispatch

// Cases that the address sanitizer must not report, and by name one that it must. `run` begins with it.

final class Link {
    let text: String
    var next: Link?

    init(_ text: String) { self.text = text }
}

/// An object that lives until exit is not a leak, wherever the language hides the pointers to it.
enum Kept {
    case link(Link), text(String), both(Link, String), work(() -> Void)
}

func kept(_ number: Int) -> [Kept] {
    let text = "a text that is too long for a place without memory of its own, \(number)"
    let link = Link(text + "!")
    return [.link(link), .text(text), .both(Link(text + "?"), text), .work { print(link.text) }]
}

let numbers = (0..<100).map { ("the key of number \($0)", kept($0)) }
nonisolated(unsafe) var living = Dictionary(uniqueKeysWithValues: numbers)
let waiting = Task { try await Task.sleep(for: .seconds(600)) }

switch CommandLine.arguments.dropFirst().first {
case "freed":
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
    memory.deallocate()
    memory[0] = 1
case "beyond":
    let memory = UnsafeMutablePointer<Int>.allocate(capacity: 4)
    memory[4] = 1
case "leaked":
    for number in 0..<10 {
        let link = Link("a circle, number \(number)")
        link.next = link
    }
default: break
}
