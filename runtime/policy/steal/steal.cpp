// SPDX-License-Identifier: MIT
#include "policy/steal/steal.h"

#include "policy/steal/victim.h"

namespace ws::steal {

namespace {

constexpr bool same(const char* a, const char* b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

constexpr bool are_the_words_of(const OptionRow& option)
{
    const char* const* word = option.words;
    for (const VictimPolicy& v : victims)
        if (!*word || !same(*word++, v.name))
            return false;
    return !*word;
}
static_assert(are_the_words_of(option_row("WS_VICTIM")), "options.txt and victim.h do not list the same victim policies");

class Steal final : public policy::Policy {
public:
    const char* name() const override { return "steal"; }
    policy::Wants attach(policy::Rank& rank) override
    {
        rank.victims = chosen_ = &victims[rank.options->victim];
        return {};
    }
    void tell(Facts& facts) const override { facts.helps_nobody = !chosen_->score; }

private:
    const VictimPolicy* chosen_ = nullptr;
};

} // namespace

policy::Policy& policy()
{
    static Steal steal;
    return steal;
}

} // namespace ws::steal
