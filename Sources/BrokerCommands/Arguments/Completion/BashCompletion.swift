import BrokerCommandLine

/// Candidates are compared here and not by `compgen -W`, which would expand them: another person may have chosen the name.
extension CompletionTable {
    var bash: String {
        """
        # Completion of brokerctl in bash: source <(brokerctl completion bash)
        _brokerctl_offer() {
            local line
            while IFS= read -r line; do
                [[ -n $line && $line == "$word"* ]] && COMPREPLY+=("$line")
            done
        }
        _brokerctl_files() {
            local line
            compopt -o filenames 2> /dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
        }
        _brokerctl() {
            local at=brokerctl i word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
            COMPREPLY=()
            # Readline splits --option=value into three words.
            if [[ $word == = ]]; then word=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
            for ((i = 1; i < COMP_CWORD; i++)); do
                case "$at ${COMP_WORDS[i]}" in
                \(paths)) at+=" ${COMP_WORDS[i]}" ;;
                esac
            done
            case "$at $previous" in
        \(arms(Self.bashAction))    esac
            case $at in
        \(rows.map(Self.bashArm).joined())    esac
        }
        complete -F _brokerctl brokerctl
        """
    }

    private static func bashArm(_ row: Row) -> String {
        let options = lines(row.options.flatMap(\.words))
        let names =
            row.subcommands.isEmpty
            ? row.arguments.map(\.offer).map(bashAction).joined(separator: " ") : lines(row.subcommands.map(\.name))
        return "        '\(row.path)') if [[ $word == -* \(names.isEmpty ? "|| -z $word " : "")]]; then \(options) "
            + (names.isEmpty ? "fi ;;\n" : "else \(names) fi ;;\n")
    }

    private static func bashAction(_ completion: Completion) -> String {
        switch completion {
        case .none: ""
        case .files: "_brokerctl_files;"
        case .words(let words): lines(words)
        case .output(let command): "_brokerctl_offer < <(\(command) 2> /dev/null);"
        }
    }

    private static func lines(_ words: [String]) -> String {
        "_brokerctl_offer < <(printf '%s\\n' \(words.map(ShellText.quoted).joined(separator: " ")));"
    }
}
