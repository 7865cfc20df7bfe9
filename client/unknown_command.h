// What is said where the word behind `assay`, or behind one of its groups of commands, is no command.
// Thread safety: pure functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay::client {

// "there is no command 'leaderbord' …: did you mean 'leaderboard'?", after parsing has failed for want of a command.
// Empty where no word was given.
std::string UnknownCommand(const CLI::App& app);

}  // namespace assay::client
