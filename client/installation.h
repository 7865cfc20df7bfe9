// Where the parts of Assay are on this machine: beside this program as installed (bin/), or as built
// (build/PRESET/ROOM/), with the sources and the virtual environment above. Thread safety: pure but for the file
// system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/state_folder.h"

namespace assay::client {

class Installation {
 public:
  // `program_folder`: of this program.
  Installation(std::filesystem::path program_folder, GetEnv env = SystemEnv);
  static Installation OfThisProgram();

  // `name` ("assay-server") beside this program, in the build folder of its room ("server"), or on PATH. NotFound says
  // where it was looked for.
  absl::StatusOr<std::filesystem::path> Program(const std::string& room, const std::string& name) const;

  // $ASSAY_VENV, or .venv in a folder above this program.
  absl::StatusOr<std::filesystem::path> Venv() const;

  // What scripts/setup-xla makes: $ASSAY_XLA_VENV, or .venv-xla in a folder above this program. NotFound says what is
  // missing.
  struct Xla {
    std::filesystem::path venv, plugin;
    std::filesystem::path lowering;     // the folder of its package; empty where it is installed in the environment
    std::filesystem::path tpu_plugin;   // empty where it is not installed
    std::filesystem::path cuda_plugin;  // likewise
    std::vector<std::filesystem::path> gpus;  // descriptions of GPUs that `cuda_plugin` can compile for
  };
  absl::StatusOr<Xla> FindXla() const;

  // The folder with Assay's own Python packages, to be put on PYTHONPATH; empty where they are installed in the virtual
  // environment.
  std::filesystem::path PythonPath() const;

 private:
  std::filesystem::path folder_;
  GetEnv env_;
};

}  // namespace assay::client
