// A small counter-based generator for schedules, resampling and simulated noise: the same numbers from the same seed
// with every standard library, which <random>'s distributions do not promise. Not for secrets.
//
// Thread safety: one thread at a time.
#pragma once

#include <cmath>
#include <cstdint>

namespace assay::measure {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In [0, 1).
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

  // In [0, n); n > 0. The bias is below n / 2^64.
  uint64_t Below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(Bits()) * n) >> 64); }

  // Standard normal (polar method).
  double Normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u, v, s;
    do {
      u = 2 * Uniform() - 1;
      v = 2 * Uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    const double scale = std::sqrt(-2 * std::log(s) / s);
    spare_ = v * scale;
    has_spare_ = true;
    return u * scale;
  }

 private:
  uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace assay::measure
