import BrokerCommands
import Testing

@Suite("Parsing of command lines")
struct ArgumentTests {
    private func command<Wanted>(_ words: [String]) throws -> Wanted {
        guard case .command(let command) = CommandReading(words, root: Kitchen.self) else { throw NotACommand() }
        return try #require(command as? Wanted)
    }

    private func bake(_ words: String...) throws -> Bake { try command(["bake"] + words) }

    private func mistake(_ words: String...) -> String? { mistake(in: words) }

    private func mistake(in words: [String]) -> String? {
        guard case .mistake(let mistake, let path) = CommandReading(words, root: Kitchen.self) else { return nil }
        return "\(path.text): \(mistake.message)"
    }

    private struct NotACommand: Error {}

    @Test("missing options keep their defaults, and arguments are assigned by position")
    func least() throws {
        let bake = try bake("rye")
        #expect(bake.bread == "rye" && bake.guest == nil && bake.minutes == 50 && bake.seeds == [] && !bake.isSliced)
    }

    @Test("a value follows its option or an equals sign at any position")
    func values() throws {
        for words in [["rye", "--minutes", "40"], ["--minutes=40", "rye"], ["--minutes", "40", "rye"]] {
            let bake: Bake = try command(["bake"] + words)
            #expect(bake.minutes == 40 && bake.bread == "rye", "\(words)")
        }
        #expect(try bake("rye", "--shape=").shape == "", "an empty value is one")
        #expect(try bake("rye", "--shape", "-").shape == "-", "a dash alone is no option")
        #expect(try bake("rye", "--shape=--x=y").shape == "--x=y")
    }

    @Test("the last value of a single-valued option counts")
    func repeated() throws {
        #expect(try bake("rye", "--minutes", "40", "--minutes", "45").minutes == 45)
    }

    @Test("an option may be repeated, and some take all words up to the next option")
    func lists() throws {
        let bake = try bake("--seed", "flax", "--seed", "sunflower", "--topping", "salt", "caraway", "--sliced", "rye")
        #expect(bake.seeds == ["flax", "sunflower"] && bake.toppings == ["salt", "caraway"] && bake.bread == "rye")
    }

    @Test("flags are set by names and combined letters, and choices can be negated")
    func flags() throws {
        #expect(try bake("rye", "-sq").isSliced && bake("rye", "-sq").isQuiet)
        #expect(try bake("rye", "--sliced").isSliced)
        #expect(try bake("rye", "--glazed").isGlazed == true)
        #expect(try bake("rye", "--glazed", "--no-glazed").isGlazed == false)
        #expect(try bake("rye").isGlazed == nil)
    }

    @Test("two dashes end the options, and a command may take the words after them")
    func dashes() throws {
        #expect(try bake("--sliced", "--", "--rye").bread == "--rye")
        let serve: Serve = try command(["serve", "--", "knife", "--sharp", "-h"])
        #expect(serve.words == ["knife", "--sharp", "-h"])
        #expect(mistake("serve", "knife") == "kitchen serve: knife is an unexpected argument.")
    }

    @Test("words for another program start after the arguments and stay verbatim")
    func tail() throws {
        func call(_ words: String...) throws -> Call { try command(["call"] + words) }
        let plain = try call("--loud", "ada", "ls", "-l", "--help", "--", "--loud")
        #expect(plain.guest == "ada" && plain.isLoud && plain.words == ["ls", "-l", "--help", "--", "--loud"])
        #expect(try call("ada", "--loud", "ls").isLoud && call("ada", "--loud", "ls").words == ["ls"])
        #expect(try call("ada", "--", "-x", "y").words == ["-x", "y"])
        #expect(try call("--", "-ada", "--", "x").words == ["--", "x"] && call("--", "-ada").guest == "-ada")
        #expect(try call("ada").words == [])
        #expect(mistake("call", "--whisper", "ada") == "kitchen call: There is no option --whisper.")
    }

    @Test("options of a noun are accepted before and after its verbs")
    func nouns() throws {
        for words in [["--quiet", "oven", "heat"], ["oven", "--quiet", "heat"], ["oven", "heat", "--quiet"]] {
            let heat: Heat = try command(words)
            #expect(heat.isQuiet, "\(words)")
        }
        #expect(mistake("--shape", "tin", "bake", "rye") == "kitchen: There is no option --shape.")
    }

    @Test(
        "a mistake is reported with the nearest valid name",
        arguments: [
            (["bake", "rye", "--minuets", "3"], "There is no option --minuets; did you mean --minutes?"),
            (["bake", "rye", "-x"], "There is no option -x."),
            (["bake", "rye", "--a\u{1B}[2J\n"], #"There is no option --a\u{1b}[2J\u{a}."#),
            (["bake", "rye", "--minutes"], "--minutes needs a value."),
            (["bake", "rye", "--minutes", "--sliced"], "--minutes needs a value."),
            (["bake", "rye", "--minutes", "soon"], "--minutes cannot be soon."),
            (["bake", "rye", "--crust", "none"], "--crust takes soft or hard, not none."),
            (["bake", "rye", "--sliced=yes"], "--sliced takes no value."),
            (["bake"], "<bread> is missing."), (["bake", "rye", "oat"], "oat is an unexpected argument."),
            (["bake", "rye", "--for", ""], "A guest has a name."), (["bake", "air"], "Air cannot be baked."),
        ])
    func mistakes(_ words: [String], _ message: String) {
        #expect(mistake(in: words) == "kitchen bake: \(message)")
    }

    @Test("an unknown subcommand is reported with the nearest one")
    func unknownSubcommand() {
        #expect(
            mistake("bkae") == "kitchen: There is no command bkae; did you mean bake?\nkitchen help lists them all.")
        #expect(
            mistake("oven", "zzzzzzzzz")
                == "kitchen oven: There is no command zzzzzzzzz.\nkitchen help oven lists them all.")
    }

    @Test(
        "help takes precedence over all other arguments",
        arguments: [
            (["help"], "kitchen"), (["-h"], "kitchen"), (["help", "oven"], "kitchen oven"),
            (["oven", "--help"], "kitchen oven"),
            (["help", "oven", "heat"], "kitchen oven heat"), (["bake", "--nonsense", "-h"], "kitchen bake"),
            (["help", "bake", "--quiet"], "kitchen bake"), (["bake", "-sh"], "kitchen bake"),
        ])
    func help(_ words: [String], _ path: String) {
        guard case .help(let found) = CommandReading(words, root: Kitchen.self) else {
            Issue.record("no help")
            return
        }
        #expect(found.text == path)
    }

    @Test("every command prints the version, and a noun without a verb is incomplete")
    func others() {
        for words in [["--version"], ["oven", "--version"], ["bake", "--version"]] {
            if case .version = CommandReading(words, root: Kitchen.self) { continue }
            Issue.record("\(words)")
        }
        for (words, text) in [([], "kitchen"), (["oven"], "kitchen oven"), (["oven", "--quiet"], "kitchen oven")] {
            guard case .incomplete(let path) = CommandReading(words, root: Kitchen.self), path.text == text else {
                Issue.record("\(words)")
                continue
            }
        }
    }
}
