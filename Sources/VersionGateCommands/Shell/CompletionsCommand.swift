import ArgumentParser

/// `versiongate completions`
struct CompletionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script for a shell.",
        discussion: """
            What the database has is completed as well, if it can be read: keys of rules, bundles of apps, platforms, versions, \
            numbers of changes, users.

            Examples:
              source <(versiongate completions bash)
              versiongate completions zsh > "${fpath[1]}/_versiongate"
              versiongate completions fish \\
                > ~/.config/fish/completions/versiongate.fish
            """
    )

    /// A shell that completions can be made for.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() {
        let shell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        let script = VersionGate.completionScript(for: shell)
        print(shell == .bash ? Self.withWholeWords(script) : script)
    }

    /// A script for bash that takes `bundle=com.example.doto` for one word and `--bundle=com.example.doto` for two: bash parts
    /// words at each equals sign.
    private static func withWholeWords(_ script: String) -> String {
        let last = "complete -o filenames -F _versiongate versiongate"
        precondition(script.contains(last), "the argument parser makes another script")
        return script.replacing(
            last,
            with: """
                _versiongate_whole_words() {
                    local -a words=() rest=("${COMP_WORDS[@]:$((COMP_CWORD + 1))}")
                    local word line="${COMP_LINE}" is_open=false
                    for word in "${COMP_WORDS[@]::$((COMP_CWORD + 1))}"; do
                        if [[ "${word}" = '=' && "${words[-1]}" = --* ]]; then
                            line="${line/"${words[-1]}="/"${words[-1]} "}"
                            words+=('')
                            is_open=true
                        elif [[ "${word}" = '=' ]]; then
                            words[-1]+='='
                            is_open=true
                        elif "${is_open}" && [[ -n "${word}" || "${COMP_LINE::COMP_POINT}" != *[[:space:]] ]]; then
                            words[-1]+="${word}"
                            is_open=false
                        else
                            words+=("${word}")
                            is_open=false
                        fi
                    done
                    local -r name="${words[-1]%%=*}="
                    local -i index="$((${#words[@]} - 1))"
                    local -a COMP_WORDS=("${words[@]}" "${rest[@]}")
                    local -i COMP_CWORD="${index}"
                    local COMP_LINE="${line}"
                    _versiongate "${1}" "${words[-1]}" "${words[-2]}"
                    if [[ "${words[-1]}" = [!-]*=* ]]; then
                        COMPREPLY=("${COMPREPLY[@]#"${name}"}")
                    elif [[ "${COMPREPLY[*]}" = *= ]]; then
                        compopt +o filenames -o nospace 2>/dev/null
                    fi
                }

                complete -o filenames -F _versiongate_whole_words versiongate
                """
        )
    }
}
