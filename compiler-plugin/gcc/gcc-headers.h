// SPDX-License-Identifier: MIT
//
// GCC's headers poison names that the C++ library uses: the library's come first, GCC's in this order.
// Then what differs between GCC's versions.
#ifndef WS_GCC_HEADERS_H
#define WS_GCC_HEADERS_H

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gcc-plugin.h"
#include "plugin-version.h"
#include "intl.h"
#include "tree.h"
#include "c-family/c-common.h"
#include "stringpool.h"
#include "diagnostic.h"
#include "cpplib.h"
#include "c-family/c-pragma.h"
#include "basic-block.h"
#include "gimple.h"
#include "gimple-iterator.h"

// All that differs between the versions of GCC that the plugin is written for, 12 to 14.
namespace ws_gcc {

#if GCCPLUGIN_VERSION_MAJOR >= 14
using Diagnostic = const diagnostic_info;
inline const char *message_id(const diagnostic_info &diagnostic) { return diagnostic.message.m_format_spec; }
#else
using Diagnostic = diagnostic_info;     // as GCC's own functions for diagnostics get it
inline const char *message_id(const diagnostic_info &diagnostic) { return diagnostic.message.format_spec; }
#endif

}  // namespace ws_gcc

#endif
