// SPDX-License-Identifier: MIT
//
// Inside the module: its two writers, and what they share.
#pragma once

#include "trace/order.h"
#include "trace/trace.h"
#include <string>

namespace ws::trace {

// A writer deletes itself in close(), which returns remember(what went wrong).
TraceWriter* new_json_writer(const TraceJob& job, const std::string& path);
TraceWriter* new_otf2_writer(const TraceJob& job, const std::string& path);
// Why no archive can be written here, "" where one can.
std::string why_no_otf2();

// Null for "", else a copy that lasts.
const char* remember(const std::string& error);

// "core 1: guest of rank 0"
std::string thread_name(const TraceThread& thread);
const char* kind_name(observe::SeatKind kind);
const char* kind_name(EventKind kind);

// Where the archive of FILE.otf2 keeps its events: FILE.
std::string archive_folder(const std::string& path);
// The events of an earlier archive of this name go; other files stay. "" or what is wrong.
std::string clear_archive(const std::string& path);

} // namespace ws::trace
