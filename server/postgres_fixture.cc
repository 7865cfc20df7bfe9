#include "server/postgres_fixture.h"

#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <pqxx/pqxx>
#include <stdexcept>
#include <thread>
#include <vector>

#include "server/migrations.h"
#include "server/text.h"

namespace assay::server {

namespace {

std::string BinaryFolder() {
  if (const char* folder = std::getenv("ASSAY_POSTGRES_BIN")) return folder;
  return "/usr/lib/postgresql/15/bin";
}

// Runs `arguments` as the unprivileged user and returns the child. It dies with this process.
pid_t Spawn(const std::vector<std::string>& arguments, const std::string& log) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  if (freopen(log.c_str(), "a", stdout) == nullptr || dup2(STDOUT_FILENO, STDERR_FILENO) < 0) _exit(127);
  setpgid(0, 0);
  if (geteuid() == 0) {
    const passwd* user = getpwnam("postgres");
    if (user == nullptr) user = getpwnam("nobody");
    if (user == nullptr || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGINT);  // a change of user clears it
  }
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

class Server {
 public:
  Server() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-postgres-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    folder_ = pattern;
    if (geteuid() == 0) {
      const passwd* user = getpwnam("postgres");
      if (user == nullptr) user = getpwnam("nobody");
      if (user == nullptr || chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
        throw std::runtime_error("cannot give the temporary folder to an unprivileged user");
      }
      chmod(folder_.c_str(), 0755);
    }
    const std::string log = folder_ + "/log";
    const std::string data = folder_ + "/data";
    const pid_t init = Spawn(
        {BinaryFolder() + "/initdb", "-D", data, "-U", "assay", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"},
        log);
    int status = 0;
    if (waitpid(init, &status, 0) != init || status != 0) throw std::runtime_error("initdb failed, see " + log);
    pid_ = Spawn({BinaryFolder() + "/postgres", "-D", data, "-k", folder_, "-c", "listen_addresses=", "-c", "fsync=off",
                  "-c", "max_connections=60", "-c", "shared_buffers=32MB"},
                 log);
    for (int i = 0;; ++i) {
      try {
        pqxx::connection connection(Conninfo("postgres"));
        return;
      } catch (const pqxx::failure&) {
        if (i > 600 || waitpid(pid_, &status, WNOHANG) == pid_) {
          throw std::runtime_error("postgres did not start, see " + log);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    }
  }

  ~Server() {
    if (pid_ > 0) {
      kill(pid_, SIGQUIT);
      waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string Conninfo(const std::string& database) const {
    return Cat("host=", folder_, " user=assay dbname=", database);
  }

  std::string Create() {
    const std::string name = Cat("test", ++created_);
    pqxx::connection connection(Conninfo("postgres"));
    pqxx::nontransaction work(connection);
    work.exec("CREATE DATABASE " + name);
    return Conninfo(name);
  }

 private:
  std::string folder_;
  pid_t pid_ = -1;
  int created_ = 0;
};

Server& TheServer() {
  static Server server;
  return server;
}

}  // namespace

std::string MakeEmptyDatabase() { return TheServer().Create(); }

void PostgresTest::SetUp() {
  database_ = std::make_unique<Database>(MakeEmptyDatabase(), 8);
  const absl::Status status = Migrate(*database_);
  ASSERT_TRUE(status.ok()) << status;
}

std::string PostgresTest::Get(const std::string& sql) {
  std::string out;
  const absl::Status status = database_->Run([&](Transaction& transaction) {
    const pqxx::row row = transaction.exec1(sql);
    out = row[0].is_null() ? "NULL" : row[0].c_str();
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status << "\n" << sql;
  return out;
}

void PostgresTest::Execute(const std::string& sql) {
  const absl::Status status = database_->Run([&](Transaction& transaction) {
    transaction.exec(sql);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status << "\n" << sql;
}

}  // namespace assay::server
