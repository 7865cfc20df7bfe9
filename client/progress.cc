#include "client/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

// The first `width` characters.
std::string Clipped(const std::string& text, int width) {
  if (Width(text) <= width) return text;
  size_t end = 0;
  for (int columns = 0; end < text.size(); ++end) {
    const bool starts_character = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;
    if (starts_character && columns++ == width - 1) break;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

Progress::Progress(std::FILE* out, int width, std::function<Clock::time_point()> now)
    : out_(out), width_(width), now_(std::move(now)) {}

Progress Progress::OnStandardError() {
  winsize size{};
  int width = 0;
  if (::isatty(STDERR_FILENO))
    width = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  return Progress(stderr, width);
}

void Progress::Show(const std::string& text, bool last) {
  const Clock::time_point now = now_();
  const auto interval = width_ > 0 ? std::chrono::milliseconds(100) : std::chrono::seconds(10);
  if (!last && shown_at_ != Clock::time_point{} && now - shown_at_ < interval) return;
  shown_at_ = now;
  if (width_ > 0) {
    fmt::print(out_, "\r\x1b[K{}{}", Clipped(text, width_), last ? "\n" : "");
    drawn_ = !last;
  } else if (text != shown_) {
    fmt::print(out_, "{}\n", text);
  }
  shown_ = text;
  std::fflush(out_);
}

void Progress::Clear() {
  if (!drawn_) return;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
  drawn_ = false;
}

void Rate::Add(Clock::time_point at, int64_t done) {
  points_.emplace_back(at, done);
  while (points_.size() > 2 && at - points_[1].first > std::chrono::minutes(1)) points_.pop_front();
}

double Rate::per_second() const {
  if (points_.size() < 2) return 0;
  const double seconds = std::chrono::duration<double>(points_.back().first - points_.front().first).count();
  return seconds <= 0 ? 0 : static_cast<double>(points_.back().second - points_.front().second) / seconds;
}

double Rate::SecondsFor(int64_t left) const {
  const double rate = per_second();
  return rate <= 0 ? 0 : static_cast<double>(left) / rate;
}

}  // namespace assay::client
