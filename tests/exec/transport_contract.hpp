#pragma once
// What every back end must do, written once. Each function is called by all ranks of a job at the same time and throws
// std::runtime_error naming what it expected.

#include "exec/transport/transport.hpp"

namespace stagecraft::contract {

void messages_arrive_with_their_content(Transport& transport, at::ScalarType type);
void messages_of_equal_name_keep_their_order(Transport& transport);
void tags_and_channels_tell_messages_apart(Transport& transport);
void large_messages_cross_in_both_directions_at_once(Transport& transport);
void sender_may_drop_its_tensor(Transport& transport);
void all_reduce_adds_every_member(Transport& transport, at::ScalarType type);
void all_reduce_takes_the_maximum(Transport& transport);
void sums_follow_rank_order(Transport& transport);
void all_gather_is_in_rank_order(Transport& transport);
void reduce_scatter_gives_each_its_part(Transport& transport, at::ScalarType type);
void all_to_all_transposes(Transport& transport);
void broadcast_comes_from_its_root(Transport& transport);
void barrier_holds_everybody(Transport& transport);
void groups_work_side_by_side(Transport& transport);
void operations_overlap_and_finish_in_any_order(Transport& transport);
void bad_calls_are_refused(Transport& transport);

/// All of the above, in order.
void everything(Transport& transport);

}  // namespace stagecraft::contract
