// Counts what operator new gives out, by replacing it.
#include <malloc.h>

#include <algorithm>
#include <new>

#include "tests/fuzz/fuzz.h"

namespace assay::fuzz {
namespace {

size_t in_use = 0, peak = 0;

void* Allocate(size_t bytes, size_t alignment) {
  void* p = alignment > alignof(std::max_align_t)
                ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                : std::malloc(std::max<size_t>(bytes, 1));
  if (p == nullptr) std::abort();
  in_use += malloc_usable_size(p);
  peak = std::max(peak, in_use);
  return p;
}

void Free(void* p) {
  if (p != nullptr) in_use -= malloc_usable_size(p);
  std::free(p);
}

}  // namespace

size_t PeakMemory(const std::function<void()>& work) {
  const size_t before = peak = in_use;
  work();
  return peak - before;
}

}  // namespace assay::fuzz

void* operator new(size_t bytes) { return assay::fuzz::Allocate(bytes, 0); }
void* operator new[](size_t bytes) { return assay::fuzz::Allocate(bytes, 0); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return assay::fuzz::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return assay::fuzz::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return assay::fuzz::Allocate(bytes, 0); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return assay::fuzz::Allocate(bytes, 0); }
void operator delete(void* p, const std::nothrow_t&) noexcept { assay::fuzz::Free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { assay::fuzz::Free(p); }
void operator delete(void* p) noexcept { assay::fuzz::Free(p); }
void operator delete[](void* p) noexcept { assay::fuzz::Free(p); }
void operator delete(void* p, size_t) noexcept { assay::fuzz::Free(p); }
void operator delete[](void* p, size_t) noexcept { assay::fuzz::Free(p); }
void operator delete(void* p, std::align_val_t) noexcept { assay::fuzz::Free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { assay::fuzz::Free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { assay::fuzz::Free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { assay::fuzz::Free(p); }
