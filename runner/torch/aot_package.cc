#include "runner/torch/aot_package.h"

#include <stdlib.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "graph/text.h"

namespace assay::torch_runner {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(graph::Cat("the descriptor \"lowered\": ", what));
}

std::optional<int32_t> IndexOf(std::string_view name, std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int32_t>(found - names.begin());
}

std::optional<c10::IValue> NumberOf(std::string_view kind, const json::value& value) {
  if (kind == "bool" && value.is_bool()) return c10::IValue(value.get_bool());
  if (kind == "int" && value.is_int64()) return c10::IValue(value.get_int64());
  if (kind != "float" || !value.is_string() || value.get_string().empty()) return std::nullopt;
  const std::string text(value.get_string());
  char* end = nullptr;
  const double number = ::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional<c10::IValue>(number) : std::nullopt;
}

}  // namespace

// A folder of its own. Processes of trials are killed, so nothing may stay there that need not.
class AotPackage::Folder {
 public:
  Folder() {
    const char* temporary = ::getenv("TMPDIR");
    std::string name = (fs::path(temporary != nullptr ? temporary : "/tmp") / "assay-aot-XXXXXX").string();
    TORCH_CHECK(::mkdtemp(name.data()) != nullptr, "the folder ", name, " cannot be made for the package");
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // The loader unpacks where TMPDIR says.
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> Load(std::string_view bytes, c10::Device device) const {
    const fs::path file = path_ / "model.pt2";
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    TORCH_CHECK(out, "the package cannot be written to ", file.string());
    const char* temporary = ::getenv("TMPDIR");
    const std::optional<std::string> before = temporary ? std::optional<std::string>(temporary) : std::nullopt;
    const auto restore = [&] { before ? ::setenv("TMPDIR", before->c_str(), 1) : ::unsetenv("TMPDIR"); };
    ::setenv("TMPDIR", path_.c_str(), 1);
    try {
      auto loader = std::make_unique<torch::inductor::AOTIModelPackageLoader>(
          file.string(), "model", /*run_single_threaded=*/false, /*num_runners=*/1,
          device.is_cpu() ? c10::DeviceIndex{-1} : device.index());
      restore();
      return loader;
    } catch (...) {
      restore();
      throw;
    }
  }

  // The C++ files, in the order of their paths.
  std::string ReadSources() const {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.path().extension() == ".cpp") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::string text;
    for (const fs::path& file : files) {
      std::ifstream in(file, std::ios::binary);
      text.append(std::istreambuf_iterator<char>(in), {});
    }
    return text;
  }

 private:
  fs::path path_;
};

AotPackage::AotPackage() = default;
AotPackage::~AotPackage() = default;

absl::Status AotPackage::ReadManifest(std::string_view line, std::span<const std::string> parameters) {
  boost::system::error_code error;
  const json::value manifest = json::parse(json::string_view(line.data(), line.size()), error);
  const json::object* object = error ? nullptr : manifest.if_object();
  const json::value* inputs = object ? object->if_contains("inputs") : nullptr;
  const json::value* constants = object ? object->if_contains("constants") : nullptr;
  const json::value* outputs = object ? object->if_contains("outputs") : nullptr;
  if (inputs == nullptr || !inputs->is_array() || constants == nullptr || !constants->is_object() ||
      outputs == nullptr || !outputs->is_array()) {
    return Wrong("its first line is no JSON object with inputs, constants and outputs");
  }
  for (const json::value& name : inputs->get_array()) {
    const std::optional<int32_t> index = name.is_string() ? IndexOf(name.get_string(), parameters) : std::nullopt;
    if (!index) return Wrong(graph::Cat("the graph has no parameter ", json::serialize(name)));
    inputs_.push_back(*index);
  }
  for (const auto& [name, value] : constants->get_object()) {
    const std::optional<int32_t> index = IndexOf(name, parameters);
    if (!index || !value.is_int64())
      return Wrong(graph::Cat("the graph has no integer \"", std::string_view(name), "\""));
    constants_.emplace_back(*index, value.get_int64());
  }
  for (const json::value& value : outputs->get_array()) {
    const json::object* output = value.if_object();
    if (output == nullptr || output->size() != 1) return Wrong("an output is no object with one member");
    const auto& [kind, what] = *output->begin();
    if (kind == "tensor" && what.is_int64() && what.get_int64() >= 0) {
      outputs_.push_back({what.get_int64(), {}});
      continue;
    }
    const std::optional<c10::IValue> number = NumberOf(kind, what);
    if (!number) return Wrong(graph::Cat("an output is ", json::serialize(value)));
    outputs_.push_back({-1, *number});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<AotPackage>> AotPackage::Load(std::string_view bytes,
                                                             std::span<const std::string> parameters,
                                                             c10::Device device) {
  const size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return Wrong("it has no first line of JSON");
  std::unique_ptr<AotPackage> package(new AotPackage);
  if (absl::Status read = package->ReadManifest(bytes.substr(0, line), parameters); !read.ok()) return read;
  bytes.remove_prefix(line + 1);
  package->folder_ = std::make_unique<Folder>();
  package->loader_ = package->folder_->Load(bytes, device);
  package->source_ = package->folder_->ReadSources();
  return package;
}

std::vector<c10::IValue> AotPackage::Run(std::span<const at::Tensor> inputs) {
  for (const auto& [parameter, value] : constants_) {
    const int64_t given = inputs[parameter].item<int64_t>();
    TORCH_CHECK(given == value, "parameter ", parameter, " is ", given, ", and the package was made for ", value);
  }
  std::vector<at::Tensor> arguments;
  arguments.reserve(inputs_.size());
  for (const int32_t parameter : inputs_) arguments.push_back(inputs[parameter]);
  std::vector<at::Tensor> results = loader_->boxed_run(std::move(arguments));
  folder_.reset();
  std::vector<c10::IValue> outputs;
  outputs.reserve(outputs_.size());
  for (const Output& output : outputs_) {
    if (output.tensor < 0) {
      outputs.push_back(output.number);
      continue;
    }
    TORCH_CHECK(static_cast<size_t>(output.tensor) < results.size(), "the package returns ", results.size(),
                " tensors; output number ", output.tensor, " is wanted");
    outputs.emplace_back(results[output.tensor]);
  }
  return outputs;
}

}  // namespace assay::torch_runner
