import BrokerCommandLine

/// Candidates are compared here and not by `compgen -W`, which would expand them: another person may have chosen the name.
extension CompletionTable {
    var bash: String {
        """
        # Completion of brokerctl in bash: source <(brokerctl completion bash)
        _brokerctl_offer() {
            local line
            while IFS= read -r line; do
                [[ -n $line && $line == "$word"* ]] && _brokerctl_add
            done
        }
        _brokerctl_files() {
            local line
            compopt -o filenames 2> /dev/null
            while IFS= read -r line; do _brokerctl_add; done < <(compgen -f -- "$word")
        }
        _brokerctl_add() {
            line=$option$line
            COMPREPLY+=("${line#"$head"}")
        }
        _brokerctl() {
            local at=brokerctl line=$COMP_LINE part word= previous= head option=
            COMPREPLY=()
            # Bash also splits words at @, : and =; blanks in the line show where a word really begins.
            for part in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
                if [[ $line == [[:space:]]* ]]; then
                    case "$at $word" in
                    \(paths)) at+=" $word" ;;
                    esac
                    previous=$word word=
                fi
                word+=$part line=${line#*"$part"}
            done
            # Bash replaces only the part of the word that it passes as $2.
            head=${word%"$2"*} word=$head$2
            if [[ $word == --*=* ]]; then option=${word%%=*}= previous=${word%%=*} word=${word#*=}; fi
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
