// SPDX-License-Identifier: MIT
#include "policy/rows/allowance.h"

#include "base/text.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace ws::policy::rows {

int Allowance::look()
{
    if (path_.empty())
        return 0;
    char text[64] = "";
    std::string wrong;
    if (std::FILE* const file = std::fopen(path_.c_str(), "re")) {
        const size_t read = std::fread(text, 1, sizeof text - 1, file);
        if (std::ferror(file))
            wrong = std::strerror(errno);
        std::fclose(file);
        if (read == 0 && wrong.empty())
            return number_;
    } else
        wrong = std::strerror(errno);
    if (wrong.empty()) {
        const std::optional<uint64_t> number = base::whole_number(base::trim(text));
        if (number && *number >= 1 && *number <= INT_MAX) {
            said_ = false;
            return number_ = int(*number);
        }
        wrong = "it has no whole number of at least 1";
    }
    if (!said_)
        std::fprintf(stderr, "workshare: warning: -workshare-cores-file %s: %s; %s\n", path_.c_str(), wrong.c_str(),
                     number_ ? ("keeping " + std::to_string(number_)).c_str() : "no number is changed");
    said_ = true;
    return number_;
}

} // namespace ws::policy::rows
