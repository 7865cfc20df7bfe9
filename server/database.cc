#include "server/database.h"

#include <cmath>
#include <pqxx/pqxx>

#include "server/text.h"

namespace assay::server {

class Connection : public pqxx::connection {
 public:
  using pqxx::connection::connection;
};

namespace {

constexpr int kTries = 3;

// SQLSTATE classes that mean "the same transaction may succeed now".
bool MayRetry(const pqxx::sql_error& error) {
  const std::string state = error.sqlstate();
  return state == "40001" || state == "40P01";
}

}  // namespace

absl::Status StatusOfException() {
  try {
    throw;
  } catch (const pqxx::unique_violation& e) {
    return absl::AlreadyExistsError(Cat("the database refused a duplicate: ", e.what()));
  } catch (const pqxx::broken_connection& e) {
    return absl::UnavailableError(Cat("the connection to Postgres failed: ", e.what()));
  } catch (const pqxx::sql_error& e) {
    const std::string state = e.sqlstate();
    const std::string message = Cat("Postgres says (SQLSTATE ", state, "): ", e.what());
    if (state.starts_with("57P") || state.starts_with("08") || state.starts_with("53")) {
      return absl::UnavailableError(message);
    }
    if (state == "40001" || state == "40P01" || state == "55P03") return absl::AbortedError(message);
    return absl::InternalError(message);
  } catch (const pqxx::failure& e) {
    return absl::InternalError(Cat("libpqxx: ", e.what()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("unexpected exception: ", e.what()));
  }
}

Database::Database(std::string conninfo, int connections) : conninfo_(std::move(conninfo)), limit_(connections) {}
Database::~Database() = default;

std::unique_ptr<Connection> Database::Take() {
  {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [&] { return !idle_.empty() || open_ < limit_; });
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ++open_;
  }
  try {
    return std::make_unique<Connection>(conninfo_);
  } catch (...) {
    Give(nullptr);
    throw;
  }
}

void Database::Give(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  if (connection != nullptr) {
    idle_.push_back(std::move(connection));
  } else {
    --open_;
  }
  free_.notify_one();
}

absl::Status Database::Run(const std::function<absl::Status(Transaction&)>& body) {
  for (int attempt = 1;; ++attempt) {
    std::unique_ptr<Connection> connection;
    bool began = false;
    bool retry = false;
    absl::Status status;
    try {
      connection = Take();
    } catch (...) {
      return StatusOfException();
    }
    try {
      pqxx::work transaction(*connection);
      transaction.exec("SELECT 1");  // a connection that died while idle shows here, before anything was done
      began = true;
      status = body(transaction);
      if (status.ok()) transaction.commit();
    } catch (const pqxx::in_doubt_error& e) {
      status = absl::UnavailableError(Cat("the connection to Postgres failed while committing: ", e.what()));
    } catch (const pqxx::broken_connection&) {
      retry = !began;
      status = StatusOfException();
    } catch (const pqxx::sql_error& e) {
      retry = MayRetry(e);
      status = StatusOfException();
    } catch (...) {
      status = StatusOfException();
    }
    if (!connection->is_open() || absl::IsUnavailable(status)) connection.reset();
    Give(std::move(connection));
    if (!retry || attempt == kTries) return status;
  }
}

void ArrayParameter::Separate() {
  if (!items_.empty()) items_ += ',';
}

void ArrayParameter::Add(std::string_view text) {
  Separate();
  items_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') items_ += '\\';
    items_ += c;
  }
  items_ += '"';
}

void ArrayParameter::Add(int64_t number) {
  Separate();
  items_ += Cat(number);
}

void ArrayParameter::Add(double number) {
  Separate();
  if (std::isnan(number)) {
    items_ += "NaN";
  } else if (std::isinf(number)) {
    items_ += number > 0 ? "Infinity" : "-Infinity";
  } else {
    char text[32];
    snprintf(text, sizeof(text), "%.17g", number);
    items_ += text;
  }
}

void ArrayParameter::AddBool(bool value) {
  Separate();
  items_ += value ? "t" : "f";
}

void ArrayParameter::AddBytes(std::string_view bytes) { Add(BytesParameter(bytes)); }

void ArrayParameter::AddNull() {
  Separate();
  items_ += "NULL";
}

std::string BytesParameter(std::string_view bytes) { return Cat("\\x", HexFromBytes(bytes)); }

std::string BytesFromText(std::string_view text) { return BytesFromHex(text.substr(2)); }

std::string CleanText(std::string_view text) {
  static constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    size_t length = 0;
    if (byte >= 0x01 && byte < 0x80) {
      length = 1;
    } else if (byte >= 0xC2 && byte < 0xE0) {
      length = 2;
    } else if (byte >= 0xE0 && byte < 0xF0) {
      length = 3;
    } else if (byte >= 0xF0 && byte < 0xF5) {
      length = 4;
    }
    bool good = length > 0 && i + length <= text.size();
    for (size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    if (good && length == 3) {  // over-long forms and surrogates
      const auto second = static_cast<unsigned char>(text[i + 1]);
      good = !(byte == 0xE0 && second < 0xA0) && !(byte == 0xED && second >= 0xA0);
    }
    if (good && length == 4) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      good = !(byte == 0xF0 && second < 0x90) && !(byte == 0xF4 && second >= 0x90);
    }
    out += good ? text.substr(i, length) : kReplacement;
    i += good ? length : 1;
  }
  return out;
}

}  // namespace assay::server
