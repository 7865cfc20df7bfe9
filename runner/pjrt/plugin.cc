#include "runner/pjrt/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/sha256.h"
#include "graph/text.h"
#include "runner/pjrt/status.h"

namespace assay::pjrt {
namespace {

using graph::Cat;

absl::StatusCode CodeOf(PJRT_Error_Code code) {
  // The numbers are the same ones (the header says so); what is out of their range is unknown.
  return code >= PJRT_Error_Code_CANCELLED && code <= PJRT_Error_Code_UNAUTHENTICATED
             ? static_cast<absl::StatusCode>(code)
             : absl::StatusCode::kUnknown;
}

struct BuildIdSearch {
  const void* address;
  std::string build_id;
};

// dl_iterate_phdr(): finds the library that holds an address, and its NT_GNU_BUILD_ID note.
int FindBuildId(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<BuildIdSearch*>(data);
  const auto address = reinterpret_cast<uintptr_t>(search->address);
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    holds |= segment.p_type == PT_LOAD && address >= start && address < start + segment.p_memsz;
  }
  if (!holds) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    const char* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* description = name + ((note.n_namesz + 3) & ~3u);
      if (description + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
        static constexpr char kHex[] = "0123456789abcdef";
        for (uint32_t k = 0; k < note.n_descsz; ++k) {
          const auto byte = static_cast<unsigned char>(description[k]);
          search->build_id += {kHex[byte >> 4], kHex[byte & 15]};
        }
        return 1;
      }
      at = description + ((note.n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Plugin>> Plugin::Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(Cat("cannot load the PJRT plug-in ", path, ": ", dlerror()));
  }
  using GetPjrtApiFunction = const PJRT_Api*();
  auto* get_api = reinterpret_cast<GetPjrtApiFunction*>(dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) {
    return absl::FailedPreconditionError(Cat(path, " is not a PJRT plug-in: it exports no GetPjrtApi()"));
  }
  auto plugin = std::unique_ptr<Plugin>(new Plugin());
  plugin->path_ = path;
  plugin->api_ = get_api();
  if (plugin->api_ == nullptr) return absl::FailedPreconditionError(Cat("GetPjrtApi() of ", path, " returned nothing"));
  if (plugin->api_->pjrt_api_version.major_version != PJRT_API_MAJOR) {
    return absl::FailedPreconditionError(Cat(path, " has PJRT API ", plugin->api_version(), "; this runner speaks ",
                                             PJRT_API_MAJOR, ".x: use a plug-in of that version"));
  }
  // Without these two not even an error can be read.
  if (!plugin->Has(&PJRT_Api::PJRT_Error_Destroy) || !plugin->Has(&PJRT_Api::PJRT_Error_Message)) {
    return absl::FailedPreconditionError(Cat(path, " has a function table without PJRT_Error_Message"));
  }
  plugin->in_library_ = reinterpret_cast<const void*>(get_api);
  auto initialize = ASSAY_PJRT_ARGS(PJRT_Plugin_Initialize_Args);
  if (plugin->Has(&PJRT_Api::PJRT_Plugin_Initialize)) {
    absl::Status status = plugin->Call(&PJRT_Api::PJRT_Plugin_Initialize, initialize, "PJRT_Plugin_Initialize");
    if (!status.ok()) return Annotated(status, Cat("cannot start ", path));
  }
  absl::Status status = plugin->ReadAttributes();
  if (!status.ok()) return status;
  return plugin;
}

absl::StatusOr<std::string> Plugin::Build() const {
  BuildIdSearch search{in_library_, ""};
  dl_iterate_phdr(FindBuildId, &search);
  if (!search.build_id.empty()) return Cat("build-id ", search.build_id);
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    if (fd >= 0) close(fd);
    return absl::UnavailableError(Cat("cannot read ", path_, " to identify its build: ", strerror(errno)));
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) {
    return absl::UnavailableError(Cat("cannot map ", path_, " to identify its build: ", strerror(errno)));
  }
  std::string hash = graph::Sha256Hex(std::string_view(static_cast<const char*>(bytes), size));
  munmap(bytes, size);
  return Cat("sha256 ", hash);
}

absl::Status Plugin::ReadAttributes() {
  if (!Has(&PJRT_Api::PJRT_Plugin_Attributes)) return absl::OkStatus();
  auto args = ASSAY_PJRT_ARGS(PJRT_Plugin_Attributes_Args);
  absl::Status status = Call(&PJRT_Api::PJRT_Plugin_Attributes, args, "PJRT_Plugin_Attributes");
  if (!status.ok()) return status;
  for (size_t i = 0; i < args.num_attributes; ++i) {
    const PJRT_NamedValue& value = args.attributes[i];
    if (std::string_view(value.name, value.name_size) != "stablehlo_current_version" ||
        value.type != PJRT_NamedValue_kInt64List) {
      continue;
    }
    for (size_t k = 0; k < value.value_size; ++k) {
      if (k > 0) stablehlo_version_ += '.';
      stablehlo_version_ += std::to_string(value.int64_array_value[k]);
    }
  }
  return absl::OkStatus();
}

std::string Plugin::api_version() const {
  return Cat(api_->pjrt_api_version.major_version, ".", api_->pjrt_api_version.minor_version);
}

absl::Status Plugin::MissingEntry(std::string_view name) const {
  return absl::UnimplementedError(Cat("the plug-in ", path_, " (PJRT API ", api_version(), ") has no ", name));
}

absl::Status Plugin::StatusOf(PJRT_Error* error) const {
  if (error == nullptr) return absl::OkStatus();
  auto message = ASSAY_PJRT_ARGS(PJRT_Error_Message_Args);
  message.error = error;
  api_->PJRT_Error_Message(&message);
  absl::StatusCode code = absl::StatusCode::kUnknown;
  if (Has(&PJRT_Api::PJRT_Error_GetCode)) {
    auto get = ASSAY_PJRT_ARGS(PJRT_Error_GetCode_Args);
    get.error = error;
    if (PJRT_Error* second = api_->PJRT_Error_GetCode(&get); second == nullptr) {
      code = CodeOf(get.code);
    } else {
      auto destroy = ASSAY_PJRT_ARGS(PJRT_Error_Destroy_Args);
      destroy.error = second;
      api_->PJRT_Error_Destroy(&destroy);
    }
  }
  absl::Status status(code, absl::string_view(message.message, message.message_size));
  auto destroy = ASSAY_PJRT_ARGS(PJRT_Error_Destroy_Args);
  destroy.error = error;
  api_->PJRT_Error_Destroy(&destroy);
  return status;
}

absl::Status Plugin::Await(PJRT_Event* event) const {
  if (event == nullptr) return absl::OkStatus();
  auto await = ASSAY_PJRT_ARGS(PJRT_Event_Await_Args);
  await.event = event;
  absl::Status status = Call(&PJRT_Api::PJRT_Event_Await, await, "PJRT_Event_Await");
  auto destroy = ASSAY_PJRT_ARGS(PJRT_Event_Destroy_Args);
  destroy.event = event;
  absl::Status destroyed = Call(&PJRT_Api::PJRT_Event_Destroy, destroy, "PJRT_Event_Destroy");
  return status.ok() ? destroyed : status;
}

}  // namespace assay::pjrt
