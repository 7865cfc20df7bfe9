// Connections to Postgres and the one place where libpqxx's exceptions become absl::Status.
//
// Database::Run() gives a function a transaction of its own: committed where it returns OK, rolled back otherwise. Code
// inside may throw libpqxx's exceptions and any std::exception; nothing escapes Run(). A transaction that lost to
// another (serialisation failure, deadlock) or whose connection had died before it began is run again, up to three
// times, so the function must not have effects outside of the database. Thread safety: Database may be used from any
// number of threads; each transaction belongs to one.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace pqxx {
class transaction_base;
}  // namespace pqxx

namespace assay::server {

using Transaction = pqxx::transaction_base;

class Connection;  // database.cc

class Database {
 public:
  // `conninfo` is libpq's connection string or URI. Connects lazily, at most `connections` at once; more callers wait.
  Database(std::string conninfo, int connections);
  ~Database();

  absl::Status Run(const std::function<absl::Status(Transaction&)>& body);

  const std::string& conninfo() const { return conninfo_; }

 private:
  std::unique_ptr<Connection> Take();
  void Give(std::unique_ptr<Connection> connection);

  const std::string conninfo_;
  const int limit_;
  std::mutex mutex_;
  std::condition_variable free_;
  int open_ = 0;
  std::vector<std::unique_ptr<Connection>> idle_;
};

// The status of the exception being handled. Call in a catch block only.
absl::Status StatusOfException();

// A one-dimensional array as Postgres writes it, to be passed as a parameter and cast: `$1::text[]`.
class ArrayParameter {
 public:
  void Add(std::string_view text);
  void Add(int64_t number);
  void Add(double number);  // not finite: written so that float8 reads it
  void AddBool(bool value);
  void AddBytes(std::string_view bytes);
  void AddNull();
  std::string str() const { return "{" + items_ + "}"; }

 private:
  void Separate();
  std::string items_;
};

// `bytes` as a text parameter for bytea.
std::string BytesParameter(std::string_view bytes);
// A bytea column's contents from its text form ("\x…").
std::string BytesFromText(std::string_view text);
// Postgres' text cannot hold NUL bytes: they become U+FFFD, as do bytes that are not UTF-8.
std::string CleanText(std::string_view text);

}  // namespace assay::server
