#include "worker/runner_environment.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "fmt/format.h"
#include "graph/sha256.h"

namespace assay::worker {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<std::string> ReadBytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::NotFoundError(fmt::format("{} cannot be read", file.string()));
  return text.str();
}

// The interpreter's version as the environment's pyvenv.cfg gives it; empty where it has none.
std::string InterpreterVersion(const fs::path& venv) {
  std::ifstream in(venv / "pyvenv.cfg");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("version")) return line;
  }
  return "";
}

// The lines of a RECORD, sorted, without those of compiled Python files, which depend on when they were first used.
std::string StableRecord(const std::string& record) {
  std::vector<std::string> lines;
  std::istringstream in(record);
  for (std::string line; std::getline(in, line);) {
    if (line.find("__pycache__") == std::string::npos) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

absl::StatusOr<std::string> HashRunnerEnvironment(const RunnerConfig& runner) {
  std::error_code error;
  std::vector<std::string> parts;
  if (!runner.venv.empty()) {
    parts.push_back(fmt::format("interpreter {}", InterpreterVersion(runner.venv)));
    for (const fs::directory_entry& lib : fs::directory_iterator(fs::path(runner.venv) / "lib", error)) {
      for (const fs::directory_entry& entry : fs::directory_iterator(lib.path() / "site-packages", error)) {
        if (entry.path().extension() != ".dist-info") continue;
        const absl::StatusOr<std::string> record = ReadBytes(entry.path() / "RECORD");
        // A distribution without a RECORD (put there by a system's package manager) counts by its name and version.
        parts.push_back(fmt::format("{} {}", entry.path().filename().string(),
                                    record.ok() ? graph::Sha256Hex(StableRecord(*record)) : "unrecorded"));
      }
    }
    if (parts.size() == 1) {
      return absl::NotFoundError(fmt::format(
          "runner {}: {} holds no installed packages (lib/*/site-packages/*.dist-info)", runner.name, runner.venv));
    }
    std::sort(parts.begin() + 1, parts.end());
  }
  // An interpreter of the environment is known by its version already; a program of its own by its bytes.
  const fs::path program = runner.command[0];
  if (runner.venv.empty() || program.lexically_relative(runner.venv).string().starts_with("..")) {
    absl::StatusOr<std::string> bytes = ReadBytes(program);
    if (!bytes.ok()) return bytes.status();
    parts.push_back(fmt::format("program {}", graph::Sha256Hex(*bytes)));
  }
  return graph::Sha256Hex(fmt::format("{}", fmt::join(parts, "\n")));
}

}  // namespace assay::worker
