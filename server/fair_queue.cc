#include "server/fair_queue.h"

#include <pqxx/pqxx>

#include "fmt/format.h"
#include "server/text.h"

namespace assay::server {

void LockClass(Transaction& transaction, const std::string& requirement, int priority) {
  transaction.exec_params("SELECT pg_advisory_xact_lock(hashtextextended($1, $2))", requirement, priority);
}

void Retag(Transaction& transaction, const std::string& requirement, int priority, int64_t submitter,
           const std::string& now) {
  LockClass(transaction, requirement, priority);
  // NULL where nothing of the class waits.
  const pqxx::row clock = transaction.exec_params1(
      fmt::format("SELECT (SELECT fair_tag FROM trials WHERE state = 'queued' AND requirement = $1 AND priority = $2 "
                  "  AND fair_tag < 'infinity' AND not_before <= {} ORDER BY fair_tag, id LIMIT 1), "
                  "(SELECT min(fair_tag) FROM trials WHERE state = 'queued' AND submitter = $3 AND requirement = $1 "
                  "AND priority = $2)",
                  now),
      requirement, priority, submitter);
  double base = 0;
  if (!clock[1].is_null() && clock[1].as<std::string>() != "Infinity") {
    base = clock[1].as<double>();
  } else if (!clock[0].is_null()) {
    const pqxx::result share = transaction.exec_params(
        "SELECT finish_tag FROM fair_shares WHERE requirement = $1 AND priority = $2 AND submitter = $3", requirement,
        priority, submitter);
    base = clock[0].as<double>();
    if (!share.empty()) base = std::max(base, share[0][0].as<double>());
  } else {
    transaction.exec_params("DELETE FROM fair_shares WHERE requirement = $1 AND priority = $2", requirement, priority);
    base = transaction
               .exec_params1(
                   "SELECT coalesce(min(head.fair_tag), 0) FROM "
                   "(SELECT DISTINCT requirement FROM trials WHERE state = 'leased' AND priority = $2 AND requirement "
                   "<> $1) served "
                   "CROSS JOIN LATERAL (SELECT fair_tag FROM trials t WHERE t.state = 'queued' AND t.requirement = "
                   "served.requirement "
                   "  AND t.priority = $2 AND fair_tag < 'infinity' ORDER BY fair_tag, id LIMIT 1) head",
                   requirement, priority)[0]
               .as<double>();
  }
  // Evaluations are merged by what each has been given before the trial; then one running sum is the submitter's order.
  transaction.exec_params(
      "WITH mine AS (SELECT id, evaluation_id, expected_seconds,"
      "    sum(expected_seconds) OVER (PARTITION BY evaluation_id ORDER BY expected_seconds DESC, id) - "
      "expected_seconds AS given"
      "  FROM trials WHERE state = 'queued' AND submitter = $3 AND requirement = $1 AND priority = $2),"
      " ordered AS (SELECT id, $4::float8 + sum(expected_seconds) OVER (ORDER BY given, evaluation_id, id) - "
      "expected_seconds AS tag FROM mine) "
      "UPDATE trials t SET fair_tag = o.tag FROM ordered o WHERE t.id = o.id AND t.state = 'queued' AND t.fair_tag <> "
      "o.tag",
      requirement, priority, submitter, base);
  transaction.exec_params(
      "INSERT INTO fair_shares (requirement, priority, submitter, finish_tag) "
      "SELECT $1::text, $2::int, $3::bigint, $4::float8 + coalesce(sum(expected_seconds), 0) FROM trials "
      "WHERE state = 'queued' AND submitter = $3 AND requirement = $1 AND priority = $2 "
      "ON CONFLICT (requirement, priority, submitter) DO UPDATE SET finish_tag = excluded.finish_tag",
      requirement, priority, submitter, base);
}

}  // namespace assay::server
