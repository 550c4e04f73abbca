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
#include "langhooks.h"
#if GCCPLUGIN_VERSION_MAJOR >= 15
#include "pretty-print-format-impl.h"
#endif
#if GCCPLUGIN_VERSION_MAJOR >= 16
#include "diagnostics/text-sink.h"
#elif GCCPLUGIN_VERSION_MAJOR == 15
#include "diagnostic-format-text.h"
#endif

#include "versions.h"

#endif
