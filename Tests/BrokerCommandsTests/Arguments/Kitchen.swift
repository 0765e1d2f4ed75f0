import BrokerCommandLine
import BrokerCommands

/// Commands of a fictitious program, with one declaration of each kind.
struct Kitchen: Command {
    static var about: About { About("kitchen", "Cook.", "Examples:\n  kitchen bake rye") }
    static var subcommands: [any Command.Type] { [Bake.self, Serve.self, Call.self, Oven.self] }
    var isQuiet = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.flag("quiet", &isQuiet, short: "q", "Say nothing.")
    }

    func execute(in program: any Command.Type) -> ExitStatus { .usage }
}

struct Bake: Command {
    enum Crust: String, CaseIterable, ArgumentValue {
        case soft, hard
    }

    static var about: About { About("bake", "Make a bread.", "It takes a while.") }

    var bread = ""
    var guest = Guest()
    var minutes: Int64 = 50
    var crust: Crust?
    var shape: String?
    var seeds: [String] = []
    var toppings: [String] = []
    var isSliced = false
    var isQuiet = false
    var isGlazed: Bool?

    mutating func declare(in arguments: inout Arguments) {
        arguments.argument("bread", &bread, "What is made.")
        arguments.group(&guest)
        arguments.option("minutes", &minutes, value: "number", "How long it takes (50 if left out).")
        arguments.option("crust", &crust, "How it is outside: soft or hard.")
        arguments.option("shape", &shape, "How it looks.", "Round, unless the tin is not.")
        arguments.list("seed", &seeds, "What is in it; may be repeated.")
        arguments.list("topping", &toppings, takesSeveral: true, "What is on it; may be repeated.")
        arguments.flag("sliced", &isSliced, short: "s", "Cut it.")
        arguments.flag("quiet", &isQuiet, short: "q", "Say nothing.")
        arguments.choice("glazed", &isGlazed, "Whether it shines.")
    }

    func validate() throws(UsageError) {
        guard bread != "air" else { throw UsageError("Air cannot be baked.") }
    }

    func execute(in program: any Command.Type) -> ExitStatus { .done }
}

/// Options shared by several commands.
struct Guest: ArgumentGroup, Equatable {
    var name: String?

    mutating func declare(in arguments: inout Arguments) {
        arguments.option("for", &name, value: "guest", "Who eats it.")
    }

    func validate() throws(UsageError) {
        guard name?.isEmpty != true else { throw UsageError("A guest has a name.") }
    }

    static func == (guest: Guest, name: String?) -> Bool { guest.name == name }
}

struct Serve: Command {
    static var about: About { About("serve", "Bring it to the table.", "") }
    var words: [String] = []

    mutating func declare(in arguments: inout Arguments) { arguments.rest("words", &words, "What goes along.") }

    func execute(in program: any Command.Type) -> ExitStatus { .done }
}

struct Call: Command {
    static var about: About { About("call", "Call somebody.", "") }
    var guest = ""
    var isLoud = false
    var words: [String] = []

    mutating func declare(in arguments: inout Arguments) {
        arguments.flag("loud", &isLoud, "So that it is heard.")
        arguments.argument("guest", &guest, "Who is called.")
        arguments.tail("word", &words, "The words.")
    }

    func execute(in program: any Command.Type) -> ExitStatus { .done }
}

struct Oven: Command {
    static var about: About { About("oven", "See to the oven.", "") }
    static var subcommands: [any Command.Type] { [Heat.self] }
    var isQuiet = false

    mutating func declare(in arguments: inout Arguments) { arguments.flag("quiet", &isQuiet, "Say nothing.") }

    func execute(in program: any Command.Type) -> ExitStatus { .usage }
}

struct Heat: Command {
    static var about: About { About("heat", "Make it hot.", "") }
    var isQuiet = false

    mutating func declare(in arguments: inout Arguments) { arguments.flag("quiet", &isQuiet, "Say nothing.") }

    func execute(in program: any Command.Type) -> ExitStatus { .done }
}
