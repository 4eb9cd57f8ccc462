// What a name stands for, in words.
#pragma once

#include "frontend/server/Workspace.h"

namespace quern::server {

/// The header of a declaration as its text has it: "fn f(x: f32) -> f32".
std::string headerOf(const typed::Declaration &declaration,
                     const SourceManager &sources);
/// The type of a variable as the declaration names its axes; "" where it cannot
/// be written.
std::string typeOf(const typed::Variable &variable,
                   const typed::Declaration &declaration);
/// One line of Quern for what a name stands for: "let y: f32 {R, C}".
std::string lineFor(const NameTarget &target, const SourceManager &sources);
/// The docstring, or what is known of a builtin.
std::string documentationOf(const NameTarget &target);
/// "fma(a, b, c)".
std::string headerOf(typed::Builtin builtin);

} // namespace quern::server
