#include "server/offers.h"

#include <optional>

#include "boost/json.hpp"
#include "server/option_schema.h"
#include "server/text.h"

namespace assay::server {

namespace {

constexpr char kCalibration[] = "calibration";

std::string Serialise(const std::vector<std::string>& parts) {
  boost::json::array array;
  for (const auto& part : parts) array.push_back(boost::json::string(part));
  return boost::json::serialize(array);
}

// The parts of a text that Serialise() wrote; empty for any other.
std::vector<std::string> Parts(const std::string& text) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(text, error);
  std::vector<std::string> out;
  if (error || !value.is_array()) return out;
  for (const auto& item : value.get_array()) {
    if (!item.is_string()) return {};
    out.emplace_back(item.get_string().c_str());
  }
  return out;
}

std::string Known(const std::vector<Offer>& offers) {
  std::set<std::string> names;
  for (const auto& offer : offers) {
    names.insert(Cat(offer.compiler, offer.environment == "default" ? "" : Cat("@env:", offer.environment), " on ",
                     offer.device_kind));
  }
  return names.empty() ? "no worker has connected yet: start one with assay-worker" : Cat("known: ", Join(names, ", "));
}

// What a worker lacks for a target that ships with Assay and needs packages of its own.
std::string HowToHave(const v1::Target& request) {
  if (request.compiler() != "xla") return "";
  const std::string_view kind = request.device_kind();
  if (kind.starts_with("tpu:")) return ": install libtpu on a worker (scripts/setup-xla --tpu) and start it again";
  if (kind.starts_with("cuda:"))
    return ": install XLA's CUDA plug-in on a worker (scripts/setup-xla --cuda) and start it again";
  if (kind.empty() || kind == "cpu")
    return ": set XLA up on a worker (scripts/setup-xla, scripts/build) and start it again";
  return "";
}

}  // namespace

std::string Offer::text() const { return Serialise({compiler, version, runner, build, environment_hash}); }

std::string ResolvedTarget::name() const {
  std::string out = offer.compiler;
  if (offer.environment != "default") out += Cat("@env:", offer.environment);
  if (!options.fields().empty()) {
    std::set<std::string> written;
    for (const auto& [key, value] : options.fields()) {
      google::protobuf::Struct one;
      (*one.mutable_fields())["v"] = value;
      std::string text = CanonicalJson(one).substr(5);
      text.pop_back();
      written.insert(Cat(key, "=", value.has_string_value() ? value.string_value() : text));
    }
    out += Cat("(", Join(written, ","), ")");
  }
  return out;
}

std::string ResolvedTarget::key() const {
  return Serialise({offer.compiler, offer.version, offer.runner, offer.build, offer.environment, offer.environment_hash,
                    offer.device_kind, CanonicalJson(options)});
}

v1::Target ResolvedTarget::ToProto() const {
  v1::Target out;
  out.set_compiler(offer.compiler);
  out.set_environment(offer.environment);
  out.set_device_kind(offer.device_kind);
  *out.mutable_options() = options;
  out.set_runner(offer.runner);
  out.set_version(offer.version);
  out.set_environment_hash(offer.environment_hash);
  out.set_name(name());
  return out;
}

std::vector<Offer> OffersOf(const google::protobuf::RepeatedPtrField<v1::Runner>& runners,
                            const google::protobuf::RepeatedPtrField<v1::Device>& devices) {
  std::set<std::string> kinds;
  for (const auto& device : devices) kinds.insert(device.kind());
  std::vector<Offer> out;
  for (const auto& runner : runners) {
    for (const auto& kind : runner.device_kinds()) {
      if (!kinds.contains(kind)) continue;
      for (const auto& compiler : runner.compilers()) {
        Offer offer;
        offer.compiler = compiler.name();
        offer.version = compiler.version();
        offer.runner = runner.name();
        offer.build = runner.build();
        offer.environment = runner.environment().empty() ? "default" : runner.environment();
        offer.environment_hash = runner.environment_hash();
        offer.device_kind = kind;
        offer.baseline = compiler.baseline();
        offer.options_schema = compiler.options();
        offer.trusted = runner.trusted();
        offer.compiles_only = runner.compiles_only();
        out.push_back(std::move(offer));
      }
    }
  }
  return out;
}

absl::StatusOr<ResolvedTarget> Resolve(const v1::Target& request, const std::vector<Offer>& offers,
                                       const std::string& role) {
  if (request.compiler().empty()) {
    return absl::InvalidArgumentError(Cat(role, ".compiler is empty: name a compiler; ", Known(offers)));
  }
  const std::string environment = request.environment().empty() ? "default" : request.environment();
  const std::string kind = request.device_kind().empty() ? "cpu" : request.device_kind();
  std::vector<const Offer*> matches;
  bool live = false;
  for (const auto& offer : offers) {
    if (offer.compiler != request.compiler() || offer.device_kind != kind || offer.environment != environment) continue;
    if (!request.runner().empty() && offer.runner != request.runner()) continue;
    if (!request.version().empty() && offer.version != request.version()) continue;
    if (!request.environment_hash().empty() && offer.environment_hash != request.environment_hash()) continue;
    matches.push_back(&offer);
    live = live || offer.live_workers > 0;
  }
  if (live) std::erase_if(matches, [](const Offer* offer) { return offer->live_workers == 0; });
  const std::string wanted =
      Cat(request.compiler(), environment == "default" ? "" : Cat("@env:", environment), " on ", kind);
  if (matches.empty()) {
    return absl::FailedPreconditionError(
        Cat(role, ": no worker offers ", wanted, HowToHave(request), "; ", Known(offers)));
  }
  // Builds of the same environment: the one that most workers have.
  const Offer* best = matches.front();
  std::set<std::string> hashes, runners;
  for (const Offer* offer : matches) {
    runners.insert(offer->runner);
    hashes.insert(offer->environment_hash);
    if (std::make_pair(offer->live_workers, offer->workers) > std::make_pair(best->live_workers, best->workers))
      best = offer;
  }
  if (runners.size() > 1) {
    return absl::FailedPreconditionError(Cat(role, ": ", wanted, " is offered by several runners: ",
                                             Join(runners, ", "), "; name one in ", role, ".runner"));
  }
  if (hashes.size() > 1) {
    return absl::FailedPreconditionError(Cat(role, ": the environment '", environment,
                                             "' is not the same on every worker: ", Join(hashes, ", "),
                                             "; name one in ", role, ".environment_hash"));
  }
  if (const absl::Status status = CheckOptions(best->options_schema, request.options()); !status.ok()) {
    return absl::Status(status.code(), Cat(role, ": ", status.message()));
  }
  return ResolvedTarget{*best, request.options()};
}

absl::StatusOr<ResolvedTarget> DefaultBaseline(const ResolvedTarget& candidate, const std::vector<Offer>& offers) {
  const Offer& own = candidate.offer;
  const size_t slash = own.baseline.find('/');
  if (slash != std::string::npos) {
    v1::Target other;
    other.set_runner(own.baseline.substr(0, slash));
    other.set_compiler(own.baseline.substr(slash + 1));
    other.set_device_kind(own.device_kind);
    absl::StatusOr<ResolvedTarget> found = Resolve(other, offers, "baseline");
    if (found.ok()) return found;
    return absl::Status(found.status().code(),
                        Cat("the default baseline of ", own.compiler, " is ", other.compiler(), " of the runner '",
                            other.runner(), "': ", found.status().message(), "; or name one in baseline.compiler"));
  }
  for (const auto& offer : offers) {
    if (offer.compiler == own.baseline && offer.runner == own.runner && offer.build == own.build &&
        offer.environment == own.environment && offer.environment_hash == own.environment_hash &&
        offer.device_kind == own.device_kind) {
      return ResolvedTarget{offer, {}};
    }
  }
  return absl::FailedPreconditionError(
      Cat("the runner '", own.runner, "' names no baseline for ", own.compiler, ": name one in baseline.compiler"));
}

absl::StatusOr<std::string> RequirementOf(const ResolvedTarget& candidate, const ResolvedTarget* baseline) {
  std::vector<std::string> parts = {candidate.offer.device_kind, candidate.offer.text()};
  if (baseline == nullptr) return Serialise(parts);
  if (candidate.offer.device_kind != baseline->offer.device_kind) {
    return absl::InvalidArgumentError(Cat("candidate and baseline must be on one kind of device: the candidate is on ",
                                          candidate.offer.device_kind, ", the baseline on ",
                                          baseline->offer.device_kind));
  }
  parts.push_back(baseline->offer.text());
  if (candidate.key() == baseline->key()) parts.emplace_back(kCalibration);
  return Serialise(parts);
}

bool IsCalibration(const std::string& requirement) {
  const auto parts = Parts(requirement);
  return parts.size() == 4 && parts[3] == kCalibration;
}

std::string DescribeRequirement(const std::string& requirement) {
  const auto parts = Parts(requirement);
  if (parts.size() < 2) return requirement;
  const auto arm = [](const std::string& text) {
    const auto offer = Parts(text);
    return offer.size() != 5 ? text
                             : Cat(offer[0], " ", offer[1], " (runner ", offer[2], " ", offer[3].substr(0, 12),
                                   ", environment ", offer[4].substr(0, 12), ")");
  };
  return Cat(arm(parts[1]), parts.size() > 2 ? Cat(" and ", arm(parts[2])) : "", " on ", parts[0]);
}

Capabilities::Capabilities(const std::vector<Offer>& offers) {
  for (const auto& offer : offers) keys_.insert(offer.key());
}

bool Capabilities::Serves(const std::string& requirement, const std::string& kind) const {
  const auto parts = Parts(requirement);
  return parts.size() >= 2 && parts[0] == kind && keys_.contains(kind + " " + parts[1]) &&
         (parts.size() == 2 || keys_.contains(kind + " " + parts[2]));
}

bool Capabilities::Serves(const std::string& requirement) const {
  const auto parts = Parts(requirement);
  return parts.size() >= 2 && Serves(requirement, parts[0]);
}

}  // namespace assay::server
