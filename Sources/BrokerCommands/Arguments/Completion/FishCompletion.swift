import BrokerCommandLine
import BrokerValues

extension CompletionTable {
    var fish: String {
        """
        # Completion of brokerctl in fish: brokerctl completion fish | source
        function __brokerctl_at
            set -l at brokerctl
            for word in (commandline -opc)[2..]
                switch "$at $word"
                    case \(paths.replacing(scalar: "|", with: " "))
                        set at "$at $word"
                end
            end
            test "$at" = "$argv"
        end
        complete -c brokerctl -f

        """ + rows.flatMap(Self.fishLines).joined(separator: "\n")
    }

    private static func fishLines(_ row: Row) -> [String] {
        let start = "complete -c brokerctl -n '__brokerctl_at \(row.path)'"
        let subcommands = row.subcommands.map { "\(start) -a \($0.name) -d \(HandOver.shellWord($0.abstract))" }
        let options = row.options.flatMap { option in
            let value = option.takesValue ? " " + fishValue(option.offer) : ""
            let short = option.short.map { " -s \($0)" } ?? ""
            let names = option.kind == .choice ? [option.name, "no-" + option.name] : [option.name]
            let lines = names.map { "\(start)\(short) -l \($0)\(value) -d \(HandOver.shellWord(option.summary))" }
            guard option.takesValue, option.offer.isList else { return lines }
            // On the same line each value would get the option's description.
            return lines + names.map { "\(start) -l \($0) -x \(fishOffer(option.offer, option.meanings))" }
        }
        return subcommands + options + row.arguments.map { "\(start) \(fishOffer($0.offer, $0.meanings))" }
    }

    private static func fishValue(_ completion: Completion) -> String {
        switch completion {
        case .files: "-r -F"
        case .none, .words, .output: "-x"
        }
    }

    private static func fishOffer(_ completion: Completion, _ meanings: [String: String] = [:]) -> String {
        switch completion {
        case .none: ""
        case .files: "-F"
        case .words(let words):
            "-a '" + words.map { $0 + (meanings[$0].map { #"\t"\#($0)""# } ?? "") }.joined(separator: " ") + "'"
        case .output(let command): "-a '(\(command) 2> /dev/null)'"
        }
    }
}
