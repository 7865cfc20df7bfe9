#include "server/http_front.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "server/database.h"
#include "server/openapi.h"
#include "server/routes.h"
#include "server/static_files.h"
#include "server/status_codes.h"
#include "server/text.h"

namespace assay::server {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

bool IsLoopbackName(std::string_view host) {
  if (const size_t colon = host.rfind(':');
      colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    host = host.substr(0, colon);
  }
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// What every session needs; outlives them.
struct Site {
  Api& api;
  const Metrics& metrics;
  std::function<absl::Status()> healthy;
  HttpOptions options;
  Routes routes;
  std::string openapi;
  bool loopback = false;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const std::shared_ptr<Site>& site) : stream_(std::move(socket)), site_(site) {}

  void Start() {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->Read(); });
  }

 private:
  void Read() {
    parser_.emplace();
    parser_->body_limit(site_->options.max_body_bytes);
    parser_->header_limit(32 << 10);
    stream_.expires_after(std::chrono::milliseconds(static_cast<int64_t>(site_->options.header_seconds * 1000)));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](beast::error_code error, size_t) { self->OnRead(error); });
  }

  void OnRead(beast::error_code error) {
    if (error == http::error::body_limit) {
      close_ = true;
      return Reply(
          413, StatusJson(absl::ResourceExhaustedError(
                   Cat("the body is larger than ", site_->options.max_body_bytes >> 20, " MiB: send less at once"))));
    }
    if (error == http::error::header_limit) {
      close_ = true;
      return Reply(431, StatusJson(absl::ResourceExhaustedError("the header is larger than 32 KiB")));
    }
    if (error && error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream) {
      close_ = true;
      return Reply(400, StatusJson(absl::InvalidArgumentError(Cat("this is not HTTP: ", error.message()))));
    }
    if (error) return Close();
    request_ = parser_->release();
    close_ = !request_.keep_alive();
    stream_.expires_never();  // answering may take as long as a long poll
    Handle();
  }

  void Handle() {
    const std::string_view target = View(request_.target());
    const size_t mark = target.find('?');
    const std::string_view path = target.substr(0, mark);
    const std::string_view query = mark == std::string_view::npos ? "" : target.substr(mark + 1);
    const std::string_view verb = View(request_.method_string());
    if (site_->loopback && !IsLoopbackName(View(request_[http::field::host]))) {
      return Reply(
          403,
          StatusJson(absl::PermissionDeniedError("the Host header does not name this machine's loopback address")));
    }
    if (path == "/healthz") {
      site_->api.Post([self = shared_from_this()] {
        const absl::Status status = self->site_->healthy();
        self->ReplyLater(status.ok() ? 200 : 503, status.ok() ? "{\"status\": \"ok\"}" : StatusJson(status));
      });
      return;
    }
    if (verb == "GET" && path == "/metrics") return Reply(200, site_->metrics.Text(), "text/plain; version=0.0.4");
    if (verb == "GET" && path == "/openapi.json") return Reply(200, site_->openapi);
    if (!path.starts_with("/v1/")) return HandleFile(path);

    const auto match = site_->routes.Find(verb, path);
    if (!match.ok())
      return Reply(absl::IsUnimplemented(match.status()) ? 405 : HttpCode(match.status().code()),
                   StatusJson(match.status()));
    call_ = std::make_shared<Call>();
    call_->request = site_->api.NewRequest(match->route->method);
    try {
      const absl::Status read = ReadRequest(*match, query, request_.body(), call_->request.get());
      if (!read.ok()) return Reply(HttpCode(read.code()), StatusJson(read));
    } catch (...) {
      const absl::Status status = StatusOfException();
      return Reply(HttpCode(status.code()), StatusJson(status));
    }
    call_->done = [self = shared_from_this(), raw = call_.get()](absl::Status status) {
      std::string body;
      if (status.ok()) {
        try {
          body = WriteJson(*raw->response);
        } catch (...) {
          status = StatusOfException();
        }
      }
      if (!status.ok()) body = StatusJson(status);
      self->ReplyLater(HttpCode(status.code()), std::move(body));
    };
    // Somebody who goes away while a call waits takes it along.
    if (buffer_.size() == 0) {
      stream_.socket().async_wait(
          tcp::socket::wait_read, [self = shared_from_this(), call = call_](beast::error_code error) {
            if (error) return;
            char byte = 0;
            beast::error_code peeked;
            self->stream_.socket().non_blocking(true, peeked);
            self->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, peeked);
            if (peeked && peeked != asio::error::would_block) call->cancelled = true;
          });
    }
    site_->api.Start(match->route->method, std::string(View(request_[http::field::authorization])), call_);
  }

  void HandleFile(std::string_view path) {
    if (View(request_.method_string()) != "GET" && View(request_.method_string()) != "HEAD") {
      return Reply(405, StatusJson(absl::UnimplementedError("files are only read")));
    }
    auto file = site_->options.web.empty() ? absl::StatusOr<StaticFile>(absl::NotFoundError(
                                                 Cat("there is no ", path, ": /openapi.json lists the paths")))
                                           : ReadStaticFile(site_->options.web, path);
    if (!file.ok()) return Reply(HttpCode(file.status().code()), StatusJson(file.status()));
    Reply(200, std::move(file->contents), file->content_type);
  }

  void ReplyLater(int code, std::string body) {
    asio::post(stream_.get_executor(), [self = shared_from_this(), code, body = std::move(body)]() mutable {
      self->Reply(code, std::move(body));
    });
  }

  void Reply(int code, std::string body, const std::string& type = "application/json") {
    if (call_ != nullptr) {
      beast::error_code ignored;
      stream_.socket().cancel(ignored);  // the watch for a reader that goes away
      call_.reset();
    }
    response_ = Response(static_cast<http::status>(code), 11);
    response_.set(http::field::content_type, type);
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set(http::field::cache_control, type == "application/json" ? "no-store" : "no-cache");
    response_.set("Referrer-Policy", "no-referrer");
    response_.set("Content-Security-Policy",
                  "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'");
    response_.keep_alive(!close_);
    if (code == 401) response_.set(http::field::www_authenticate, "Bearer");
    response_.body() = std::move(body);
    response_.prepare_payload();
    if (request_.method() == http::verb::head) response_.body().clear();
    stream_.expires_after(std::chrono::seconds(60));
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, size_t) {
      if (error || self->close_) return self->Close();
      self->Read();
    });
  }

  void Close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  std::shared_ptr<Site> site_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;
  Response response_;
  std::shared_ptr<Call> call_;
  bool close_ = false;
};

class Front : public HttpFront {
 public:
  explicit Front(std::shared_ptr<Site> site)
      : site_(std::move(site)), context_(site_->options.threads), acceptor_(context_) {}
  ~Front() override { Stop(); }

  absl::Status Start() {
    try {
      const std::string host = site_->options.host == "localhost" ? "127.0.0.1" : site_->options.host;
      const tcp::endpoint endpoint(asio::ip::make_address(host), static_cast<uint16_t>(site_->options.port));
      acceptor_.open(endpoint.protocol());
      acceptor_.set_option(asio::socket_base::reuse_address(true));
      acceptor_.bind(endpoint);
      acceptor_.listen();
      site_->loopback = endpoint.address().is_loopback();
    } catch (const boost::system::system_error& e) {
      return absl::UnavailableError(
          Cat("cannot listen for HTTP on ", site_->options.host, ":", site_->options.port, ": ", e.what()));
    }
    Accept();
    for (int i = 0; i < site_->options.threads; ++i) threads_.emplace_back([this] { context_.run(); });
    return absl::OkStatus();
  }

  int port() const override { return acceptor_.local_endpoint().port(); }

  void Stop() override {
    context_.stop();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  void Accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](beast::error_code error, tcp::socket socket) {
      if (!error) std::make_shared<Session>(std::move(socket), site_)->Start();
      if (error != asio::error::operation_aborted) Accept();
    });
  }

  std::shared_ptr<Site> site_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpFront>> StartHttp(Api& api, const Metrics& metrics,
                                                     std::function<absl::Status()> healthy,
                                                     const HttpOptions& options) {
  Routes routes(api.methods());
  std::string openapi = MakeOpenApi(routes);
  auto site = std::make_shared<Site>(
      Site{api, metrics, std::move(healthy), options, std::move(routes), std::move(openapi), false});
  auto front = std::make_unique<Front>(std::move(site));
  if (const absl::Status status = front->Start(); !status.ok()) return status;
  return front;
}

}  // namespace assay::server
