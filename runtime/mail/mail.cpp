// SPDX-License-Identifier: MIT
#include "mail/mail.h"

#include <utility>
#include <vector>

namespace ws::mail {

namespace {

enum Tag { tag_batch = 1, tag_large = 2 };

// A poll takes at most so many batches, as it is one step of a rank that has other things to look at.
constexpr int batches_a_poll = 16;

void check(int error, const char* call)
{
    if (error == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    PMPI_Error_string(error, text, &length);
    throw Broken(std::string(call) + ": " + std::string(text, size_t(length)));
}

bool is_done(MPI_Request& request)
{
    int done = 0;
    check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done;
}

} // namespace

void Mail::open(MPI_Comm comm, Receive receive)
{
    check(PMPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check(PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    receive_ = std::move(receive);
    posted_ = received_ = queued_ = 0;
}

void Mail::post(int to, Kind kind, std::string letter)
{
    if (letter.size() > most)
        throw std::length_error("a letter of more than 2147483647 bytes");
    posted_++;
    if (to == rank_) {
        queued_ += letter.size();
        own_.emplace_back(kind, std::move(letter));
        return;
    }
    Outbox& box = out_[to];
    std::deque<Parcel>& parcels = box.parcels;
    // The letter goes into the last batch, unless that one is being sent, is full, or is a large letter's bytes.
    const bool under_way = parcels.size() == 1 && box.sending != MPI_REQUEST_NULL;
    if (parcels.empty() || under_way || parcels.back().tag == tag_large || parcels.back().bytes.size() >= full)
        parcels.push_back({{}, tag_batch});
    std::string& batch = parcels.back().bytes;
    const size_t before = batch.size();
    if (letter.size() <= large) {
        append(batch, kind, letter);
        queued_ += batch.size() - before;
        return;
    }
    append_header(batch, kind, letter.size());
    queued_ += batch.size() - before + letter.size();
    parcels.push_back({std::move(letter), tag_large});
}

// Goes on with what is posted for one rank.
bool Mail::send(int to, Outbox& box)
{
    bool moved = false;
    for (;;) {
        if (box.sending != MPI_REQUEST_NULL) {
            if (!is_done(box.sending))
                return moved;
            queued_ -= box.parcels.front().bytes.size();
            box.parcels.pop_front();
            moved = true;
        }
        if (box.parcels.empty())
            return moved;
        const Parcel& parcel = box.parcels.front();
        // Synchronous: the send is complete when the receiver has asked for the message.
        check(PMPI_Issend(parcel.bytes.data(), int(parcel.bytes.size()), MPI_BYTE, to, parcel.tag, comm_, &box.sending),
              "MPI_Issend");
    }
}

// Asks for batches that have come.
bool Mail::take()
{
    bool moved = false;
    for (int i = 0; i < batches_a_poll; i++) {
        int found = 0, bytes = 0;
        MPI_Message message;
        MPI_Status status;
        check(PMPI_Improbe(MPI_ANY_SOURCE, tag_batch, comm_, &found, &message, &status), "MPI_Improbe");
        if (!found)
            break;
        moved = true;
        check(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
        Arrival& arrival = in_[status.MPI_SOURCE].emplace_back();
        arrival.bytes.resize(size_t(bytes));
        check(PMPI_Imrecv(arrival.bytes.data(), bytes, MPI_BYTE, &message, &arrival.receiving), "MPI_Imrecv");
    }
    return moved;
}

void Mail::receive(int from, Kind kind, std::string_view letter)
{
    receive_(from, kind, letter);
    received_++; // after the call, so that whoever counts it as received sees the letters that it has posted
}

bool Mail::hand_out(int from, Inbox& inbox)
{
    bool moved = false;
    while (!inbox.empty() && is_done(inbox.front().receiving)) {
        const Arrival arrival = std::move(inbox.front());
        inbox.pop_front();
        moved = true;
        if (arrival.is_large) {
            receive(from, arrival.kind, arrival.bytes);
            continue;
        }
        Opened batch(arrival.bytes);
        Header header;
        std::string_view letter;
        while (batch.next(header, letter)) {
            if (!is_large(header)) {
                receive(from, header.kind, letter);
                continue;
            }
            // It is handed out before the batches that came meanwhile, as those were sent later.
            Arrival& rest = inbox.emplace_front();
            rest.is_large = true;
            rest.kind = header.kind;
            rest.bytes.resize(header.bytes);
            check(PMPI_Irecv(rest.bytes.data(), int(header.bytes), MPI_BYTE, from, tag_large, comm_, &rest.receiving),
                  "MPI_Irecv");
        }
        if (!batch.whole())
            throw Broken("a batch of letters from rank " + std::to_string(from) + " that makes no sense");
    }
    return moved;
}

bool Mail::hand_out_own()
{
    const size_t there = own_.size(); // letters that are posted while these are handed out come with the next poll
    for (size_t i = 0; i < there; i++) {
        const auto [kind, letter] = std::move(own_.front());
        own_.pop_front();
        queued_ -= letter.size();
        receive(rank_, kind, letter);
    }
    return there != 0;
}

bool Mail::poll()
{
    bool moved = take();
    // Letters are handed out last, when these tables are not in use, as their receivers may post.
    std::vector<int> froms;
    for (auto entry = in_.begin(); entry != in_.end();
         entry = entry->second.empty() ? in_.erase(entry) : std::next(entry))
        froms.push_back(entry->first);
    for (const int from : froms)
        if (const auto entry = in_.find(from); entry != in_.end())
            moved |= hand_out(from, entry->second);
    moved |= hand_out_own();
    for (auto entry = out_.begin(); entry != out_.end();
         entry = entry->second.parcels.empty() ? out_.erase(entry) : std::next(entry))
        moved |= send(entry->first, entry->second);
    return moved;
}

// Mattern's four counters. The ranks' numbers of one round are taken at different moments. But if two rounds in a row
// have the same sums, and as many letters were received as posted, then none was under way between the rounds.
void Mail::drain(void (*idle)())
{
    uint64_t before[2] = {1, 0};
    for (;;) {
        const uint64_t mine[2] = {posted_, received_};
        uint64_t all[2];
        MPI_Request request;
        check(PMPI_Iallreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, comm_, &request), "MPI_Iallreduce");
        do // at least once, for the rank's letters to itself
            if (!poll())
                idle();
        while (!is_done(request));
        if (all[0] == all[1] && all[0] == before[0] && all[1] == before[1])
            break;
        before[0] = all[0];
        before[1] = all[1];
    }
    // All has been received; the senders' requests only have to be completed.
    while (!out_.empty())
        if (!poll())
            idle();
}

void Mail::close()
{
    check(PMPI_Comm_free(&comm_), "MPI_Comm_free");
    receive_ = nullptr;
}

} // namespace ws::mail
