// Start-time fair queuing, kept in trials.fair_tag.
//
// A class of the queue is a requirement and a priority. In it every submitter has an equal share, and within it every
// one of the submitter's evaluations; an evaluation's trials go longest expected first. A trial's tag is the virtual
// time at which it starts: the sum of the expected seconds before it in its submitter's order, from where the submitter
// begins. A submitter begins at the class's virtual time, which is the lowest tag that waits and may run (so that one
// who was away does not claim the past), or where their own head stands. Tags are therefore only written when something
// is submitted or cancelled, never by claims or reports. A class in which nothing waits starts over at the virtual time
// of the classes that are being served, so that workers which serve several requirements share themselves out too, and
// a requirement that nobody serves holds up none. Thread safety: works in the caller's transaction, which holds a lock
// on the class until it ends.
#pragma once

#include <cstdint>
#include <string>

#include "server/database.h"

namespace assay::server {

// Takes the lock of a class. Call before the trials of a new evaluation are inserted.
void LockClass(Transaction& transaction, const std::string& requirement, int priority);

// Orders anew what `submitter` has queued in the class. New trials carry the tag 'infinity' until then. `now` is SQL.
void Retag(Transaction& transaction, const std::string& requirement, int priority, int64_t submitter,
           const std::string& now);

}  // namespace assay::server
