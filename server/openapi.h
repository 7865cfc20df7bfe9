// The OpenAPI document, derived from the same descriptors as the routes.
// Thread safety: a pure function.
#pragma once

#include <string>

#include "server/routes.h"

namespace assay::server {

// OpenAPI 3.0, as JSON.
std::string MakeOpenApi(const Routes& routes);

}  // namespace assay::server
