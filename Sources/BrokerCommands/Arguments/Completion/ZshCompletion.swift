import BrokerCommandLine
import BrokerValues

/// Works from `fpath`, where the first call defines the function, and with `source`.
extension CompletionTable {
    var zsh: String {
        """
        #compdef brokerctl
        _brokerctl() {
            local at=brokerctl word previous=${words[CURRENT-1]}
            local -a names options
            for word in ${words[2,CURRENT-1]}; do
                case "$at $word" in
                \(paths)) at+=" $word" ;;
                esac
            done
            if [[ $PREFIX == --*=* ]]; then previous=${PREFIX%%=*}; compset -P '*='; fi
            case "$at $previous" in
        \(arms(Self.zshAction))    esac
            case $at in
        \(rows.map(Self.zshArm).joined())    esac
            if [[ $PREFIX == -* || ${#names} == 0 ]]; then _describe -o option options; else _describe command names; fi
        }
        if [[ ${funcstack[1]} == _brokerctl ]]; then
            _brokerctl "$@"
        elif (( $+functions[compdef] )); then
            compdef _brokerctl brokerctl
        fi
        """
    }

    private static func zshArm(_ row: Row) -> String {
        let options = row.options.flatMap { option in option.words.map { item($0, option.summary) } }
        let names = row.subcommands.map { item($0.name, $0.abstract) }
        let arguments = row.arguments.map(\.offer).map(zshAction).joined(separator: " ")
        return "        '\(row.path)')\n            options=(\(options.joined(separator: " ")))\n"
            + (names.isEmpty ? "" : "            names=(\(names.joined(separator: " ")))\n")
            + (arguments.isEmpty ? "" : "            if [[ $PREFIX != -* ]]; then \(arguments) return; fi\n")
            + "            ;;\n"
    }

    private static func zshAction(_ completion: Completion) -> String {
        switch completion {
        case .none: ""
        case .files: "_files;"
        case .words(let words): "compadd -- \(words.map(ShellText.quoted).joined(separator: " "));"
        case .output(let command): "compadd -- ${(f)\"$(\(command) 2> /dev/null)\"};"
        }
    }

    /// The format of `_describe`.
    private static func item(_ name: String, _ text: String) -> String { HandOver.shellWord("\(name):\(text)") }
}
