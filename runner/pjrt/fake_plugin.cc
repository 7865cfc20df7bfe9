// A plug-in for tests, of which there are three: without an entry point, of another version, and with a table that ends
// after the entries that errors need.
#include <stddef.h>

#include "pjrt_c_api.h"

namespace {

void DestroyError(PJRT_Error_Destroy_Args*) {}
void Message(PJRT_Error_Message_Args*) {}
PJRT_Error* GetCode(PJRT_Error_GetCode_Args*) { return nullptr; }

PJRT_Api MakeApi() {
  PJRT_Api api = {};
  api.struct_size = offsetof(PJRT_Api, PJRT_Plugin_Initialize);
  api.pjrt_api_version.major_version = FAKE_MAJOR;
  api.pjrt_api_version.minor_version = 7;
  api.PJRT_Error_Destroy = DestroyError;
  api.PJRT_Error_Message = Message;
  api.PJRT_Error_GetCode = GetCode;
  // What lies after the end of a table is not the table's: calling it would be seen as a crash.
  api.PJRT_Client_Create = reinterpret_cast<PJRT_Client_Create*>(8);
  return api;
}

}  // namespace

extern "C" const PJRT_Api* FAKE_ENTRY() {
  static const PJRT_Api api = MakeApi();
  return &api;
}
