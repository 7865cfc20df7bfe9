// The one table of who may call what.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "assay/v1/admin.pb.h"

namespace assay::server {

// PermissionDenied says which role is needed. A method that the table does not have is for admins only.
absl::Status CheckPermission(const std::string& method, v1::Role role);

// Full names of the methods in the table.
std::vector<std::string> MethodsWithPermissions();

}  // namespace assay::server
