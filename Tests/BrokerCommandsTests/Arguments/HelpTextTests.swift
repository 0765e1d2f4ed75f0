import BrokerCommands
import Testing

@Suite("Help of a command")
struct HelpTextTests {
    private func help(_ type: any Command.Type..., columns: Int) -> String {
        HelpText(CommandPath([Kitchen.self] + type), columns: columns).text
    }

    @Test("names are next to their texts, which wrap at the terminal's width")
    func wide() {
        #expect(
            help(Bake.self, columns: 80) == """
                OVERVIEW: Make a bread.

                It takes a while.

                USAGE: kitchen bake [--for <guest>] [--minutes <number>] [--crust <crust>]
                [--shape <shape>] [--seed <seed> ...] [--topping <topping> ...] [--sliced]
                [--quiet] [--glazed|--no-glazed] <bread>

                ARGUMENTS:
                  <bread>                 What is made.

                OPTIONS:
                  --for <guest>           Who eats it.
                  --minutes <number>      How long it takes (50 if left out).
                  --crust <crust>         How it is outside: soft or hard.
                  --shape <shape>         How it looks. Round, unless the tin is not.
                  --seed <seed>           What is in it; may be repeated.
                  --topping <topping>     What is on it; may be repeated.
                  -s, --sliced            Cut it.
                  -q, --quiet             Say nothing.
                  --glazed, --no-glazed   Whether it shines.
                  --version               Show the version.
                  -h, --help              Show how the command is used.
                """)
    }

    @Test("texts are below names if lines are short")
    func narrow() {
        let lines = help(columns: 30).split(separator: "\n")
        #expect(lines.contains("  bake") && lines.contains("      Make a bread."))
        #expect(lines.contains("  kitchen bake rye"), "an example can be copied")
        #expect(lines.contains("Run 'kitchen help") && lines.contains("<subcommand>' for details."))
    }
}
