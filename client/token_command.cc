// assay token create, list, revoke.
#include "client/command.h"
#include "client/table.h"
#include "client/text.h"
#include "client/words.h"
#include "fmt/format.h"

namespace assay::client {
namespace {

std::string RoleWord(v1::Role role) { return LowerCase(v1::Role_Name(role)); }

int Create(const Command& command, const std::string& name, const std::string& role_name, double days) {
  v1::CreateTokenRequest request;
  request.set_name(name);
  v1::Role role = v1::ROLE_UNSPECIFIED;
  v1::Role_Parse(UpperCase(role_name), &role);
  request.set_role(role);
  request.set_days(days);
  return CallAndPrint(command, request, [](const v1::CreateTokenResponse& answer) {
    fmt::print(stderr, "token {} ({}, {}); its secret is shown only now:\n", answer.token().id(), answer.token().name(),
               RoleWord(answer.token().role()));
    return Print(answer.secret() + "\n");
  });
}

int List(const Command& command) {
  return CallAndPrint(command, v1::ListTokensRequest(), [](const v1::ListTokensResponse& list) {
    Table table({{"ID", true}, {"NAME"}, {"ROLE"}, {"CREATED (UTC)"}, {"EXPIRES (UTC)"}, {"STATE"}});
    for (const v1::Token& token : list.tokens()) {
      table.Add({token.id(), token.name(), RoleWord(token.role()), When(token.created()),
                 token.has_expires() ? When(token.expires()) : "never", token.revoked() ? "revoked" : "good"});
    }
    return Print(table.Text());
  });
}

}  // namespace

void AddToken(CLI::App& app, Command& command) {
  CLI::App* group = AddSubcommand(app, "token", "Who may do what (needs the role admin)",
                                  "  assay token create ci --role submitter --days 90\n"
                                  "  assay token list\n"
                                  "  assay token revoke 3\n");
  group->require_subcommand(1);

  struct Flags {
    std::string name, role = "viewer", id;
    double days = 0;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* create = AddSubcommand(*group, "create", "Make a token; its secret goes to standard output, once",
                                   "  assay token create ci --role submitter --days 90 > ci.token\n");
  create->add_option("name", flags->name, "Who or what holds it")->required();
  create->add_option("--role", flags->role, "viewer (reads), submitter (also imports and evaluates), worker, admin")
      ->check(CLI::IsMember({"viewer", "submitter", "worker", "admin"}));
  create->add_option("--days", flags->days, "Until it expires (default: never)")->check(AboveZero());
  create->callback([&command, flags] {
    command.action = [&command, flags] { return Create(command, flags->name, flags->role, flags->days); };
  });

  AddSubcommand(*group, "list", "List tokens, without their secrets", "  assay token list\n")->callback([&command] {
    command.action = [&command] { return List(command); };
  });

  CLI::App* revoke = AddSubcommand(*group, "revoke", "Make a token void", "  assay token revoke 3\n");
  revoke->add_option("id", flags->id, "As in the list")->required();
  revoke->callback([&command, flags] {
    command.action = [&command, flags] {
      v1::RevokeTokenRequest request;
      request.set_id(flags->id);
      return CallAndPrint(command, request, [](const v1::Token& token) {
        return Print(fmt::format("token {} ({}) is void\n", token.id(), Printable(token.name())));
      });
    };
  });
}

}  // namespace assay::client
