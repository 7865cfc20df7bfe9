// How far something is, on standard error: one line that is drawn again and again on a terminal, plain lines now and
// then in a pipe.
// Thread safety: one thread.
#pragma once

#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <utility>

namespace assay::client {

using Clock = std::chrono::steady_clock;

class Progress {
 public:
  // `width`: columns of the terminal; 0: not a terminal.
  Progress(std::FILE* out, int width, std::function<Clock::time_point()> now = Clock::now);
  // Standard error, as it is.
  static Progress OnStandardError();
  ~Progress() { Clear(); }

  // Shows the text where the last one is old enough: 0.1 s on a terminal, 10 s in a pipe; `last` is always shown.
  void Show(const std::string& text, bool last = false);
  // Takes the drawn line away, so that something else can be printed.
  void Clear();

 private:
  std::FILE* out_;
  int width_;
  std::function<Clock::time_point()> now_;
  Clock::time_point shown_at_{};
  std::string shown_;
  bool drawn_ = false;
};

// Items done a second over the last minute or so.
class Rate {
 public:
  void Add(Clock::time_point at, int64_t done);
  double per_second() const;  // 0: not known yet
  // Seconds that `left` more items take; 0: not known.
  double SecondsFor(int64_t left) const;

 private:
  std::deque<std::pair<Clock::time_point, int64_t>> points_;
};

}  // namespace assay::client
