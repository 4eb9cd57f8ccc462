// `quern completion bash`: what a shell needs to complete words of `quern`.
#include "jit/tool/Tool.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;

static constexpr llvm::StringLiteral help =
    R"sh(usage: quern completion bash|zsh|fish

Prints a script that completes verbs, options and files:

  bash   eval "$(quern completion bash)"    in ~/.bashrc
  zsh    eval "$(quern completion zsh)"     in ~/.zshrc, after compinit
  fish   quern completion fish | source     in ~/.config/fish/config.fish
)sh";

// The options are read from the help of a verb when a word is completed, so
// that the script never lists others than this `quern` has.
static constexpr llvm::StringLiteral bash = R"sh(_quern() {
  local word="${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" = 1 ]; then
    words="@VERBS@ help version"
  elif [ "${COMP_WORDS[1]}" = help ]; then
    words="@VERBS@"
  elif [[ "$word" == -* ]]; then
    words="$(quern help "${COMP_WORDS[1]}" 2>/dev/null |
      grep -oE -e '--[a-z][a-z-]*=?' | sort -u)"
    compopt -o nospace
  else
    COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o filenames -F _quern quern
)sh";

static constexpr llvm::StringLiteral zsh = R"sh(_quern() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(@VERBS@ help version)
  elif [[ "$words[2]" == help ]]; then
    found=(@VERBS@)
  elif [[ "$words[CURRENT]" == -* ]]; then
    found=(${(f)"$(quern help "$words[2]" 2>/dev/null |
      grep -oE -e '--[a-z][a-z-]*=?' | sort -u)"})
    compadd -S '' -- $found
    return
  else
    _files
    return
  fi
  compadd -- $found
}
compdef _quern quern
)sh";

static constexpr llvm::StringLiteral fish = R"sh(function __quern_options
  set -l words (commandline -opc)
  quern help $words[2] 2>/dev/null |
    string match -ar -- '--[a-z][a-z-]*=?' | sort -u
end
complete -c quern -n __fish_use_subcommand -f -a '@VERBS@ help version'
complete -c quern -n 'not __fish_use_subcommand' -a '(__quern_options)'
)sh";

/// The script with the verbs of this program.
static std::string withVerbs(llvm::StringRef script) {
  std::string verbs;
  for (llvm::StringRef verb : {
#define QN_VERB(word, handler, help) llvm::StringRef(word),
#include "jit/tool/Verbs.def"
       })
    verbs += (verbs.empty() ? "" : " ") + verb.str();
  std::string text;
  constexpr llvm::StringLiteral place = "@VERBS@";
  for (std::size_t at; (at = script.find(place)) != llvm::StringRef::npos;
       script = script.drop_front(at + place.size()))
    text += (script.take_front(at) + verbs).str();
  return text + script.str();
}

int tool::completion(Arguments arguments) {
  if (arguments.size() == 1 && arguments[0] == "--help") {
    llvm::outs() << help;
    return success;
  }
  if (arguments.size() != 1)
    return usageError("`completion` needs the name of a shell");
  llvm::StringRef script = llvm::StringSwitch<llvm::StringRef>(arguments[0])
                               .Case("bash", bash)
                               .Case("zsh", zsh)
                               .Case("fish", fish)
                               .Default("");
  if (script.empty())
    return usageError("there is no completion for `" + arguments[0] + "`");
  llvm::outs() << withVerbs(script);
  return success;
}
