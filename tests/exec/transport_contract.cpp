#include "transport_contract.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace stagecraft::contract {

namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("contract: " + what);
}

std::vector<std::int32_t> everybody(const Transport& transport) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

at::Tensor filled(std::int64_t elements, double value, at::ScalarType type) {
  return at::full({elements}, value, at::TensorOptions().dtype(type));
}

bool all_equal(const at::Tensor& tensor, double value) {
  return at::equal(tensor, at::full_like(tensor, value));
}

std::int32_t next(const Transport& t) {
  return (t.rank() + 1) % t.size();
}
std::int32_t previous(const Transport& t) {
  return (t.rank() + t.size() - 1) % t.size();
}

}  // namespace

void messages_arrive_with_their_content(Transport& t, at::ScalarType type) {
  const at::Tensor out = filled(1000, t.rank() + 1, type), in = filled(1000, -1, type);
  WorkHandle receive = t.irecv(in, {previous(t), 0, 7});
  WorkHandle send = t.isend(out, {next(t), 0, 7});
  receive->wait();
  send->wait();
  expect(all_equal(in, previous(t) + 1), "a ring message holds what its sender wrote");
  while (!receive->query()) {
  }
  expect(receive->times().finished_s >= receive->times().posted_s, "an operation ends after it was posted");
}

void messages_of_equal_name_keep_their_order(Transport& t) {
  std::vector<WorkHandle> work;
  std::vector<at::Tensor> in;
  for (int i = 0; i < 8; ++i) {
    in.push_back(filled(3, -1, at::kFloat));
    work.push_back(t.isend(filled(3, i, at::kFloat), {next(t), 0, 1}));
    work.push_back(t.irecv(in.back(), {previous(t), 0, 1}));
  }
  for (const WorkHandle& one : work) one->wait();
  for (int i = 0; i < 8; ++i) expect(all_equal(in[static_cast<std::size_t>(i)], i), "equal names arrive in order");
}

void tags_and_channels_tell_messages_apart(Transport& t) {
  const at::Tensor a = filled(5, -1, at::kFloat), b = filled(5, -1, at::kFloat), c = filled(5, -1, at::kFloat);
  std::vector<WorkHandle> work;
  work.push_back(t.irecv(a, {previous(t), 0, 2}));  // asked for in another order than sent
  work.push_back(t.irecv(b, {previous(t), 1, 1}));
  work.push_back(t.irecv(c, {previous(t), 0, 1}));
  work.push_back(t.isend(filled(5, 10, at::kFloat), {next(t), 0, 1}));
  work.push_back(t.isend(filled(5, 20, at::kFloat), {next(t), 1, 1}));
  work.push_back(t.isend(filled(5, 30, at::kFloat), {next(t), 0, 2}));
  for (const WorkHandle& one : work) one->wait();
  expect(all_equal(a, 30) && all_equal(b, 20) && all_equal(c, 10), "a message is found by its channel and tag");
}

void large_messages_cross_in_both_directions_at_once(Transport& t) {
  constexpr std::int64_t elements = 2 << 20;  // beyond every library's buffer for messages sent at once
  const at::Tensor from_left = filled(elements, -1, at::kFloat), from_right = filled(elements, -1, at::kFloat);
  std::vector<WorkHandle> work;
  work.push_back(t.isend(filled(elements, t.rank(), at::kFloat), {next(t), 0, 3}));
  work.push_back(t.isend(filled(elements, t.rank(), at::kFloat), {previous(t), 0, 4}));
  work.push_back(t.irecv(from_left, {previous(t), 0, 3}));
  work.push_back(t.irecv(from_right, {next(t), 0, 4}));
  for (const WorkHandle& one : work) one->wait();
  expect(all_equal(from_left, previous(t)) && all_equal(from_right, next(t)),
         "crossing messages do not block each other");
}

void sender_may_drop_its_tensor(Transport& t) {
  WorkHandle send;
  {
    const at::Tensor out = filled(100000, t.rank(), at::kFloat);
    send = t.isend(out, {next(t), 0, 5});
  }
  const at::Tensor noise = filled(100000, -7, at::kFloat);  // would take the memory over if it had been freed
  const at::Tensor in = filled(100000, -1, at::kFloat);
  t.irecv(in, {previous(t), 0, 5})->wait();
  send->wait();
  expect(all_equal(in, previous(t)) && all_equal(noise, -7), "the handle keeps the tensor alive");
}

void all_reduce_adds_every_member(Transport& t, at::ScalarType type) {
  const Group group = t.make_group(everybody(t));
  for (const std::int64_t elements : {1, 3, 1000, 200001}) {
    const at::Tensor x = filled(elements, t.rank() + 1, type);
    t.all_reduce(x, Reduction::sum, group)->wait();
    expect(all_equal(x, t.size() * (t.size() + 1) / 2.0), "all-reduce adds 1 .. n");
  }
}

void all_reduce_takes_the_maximum(Transport& t) {
  const Group group = t.make_group(everybody(t));
  const at::Tensor x = filled(10, -t.rank(), at::kDouble);
  t.all_reduce(x, Reduction::max, group)->wait();
  expect(all_equal(x, 0), "all-reduce finds the maximum");
}

void sums_follow_rank_order(Transport& t) {
  if (t.size() < 3) return;  // two addends have one sum
  const Group group = t.make_group(everybody(t));
  // In fp32, left to right: (2^24 + 1) + 1 ... stays 2^24; from the right the ones would add up first.
  const at::Tensor x = filled(70000, t.rank() == 0 ? 16777216.0 : 1.0, at::kFloat);
  t.all_reduce(x, Reduction::sum, group)->wait();
  expect(all_equal(x, 16777216.0), "all-reduce adds in ascending rank order");
  const at::Tensor y = filled(t.size() * 20000, t.rank() == 0 ? 16777216.0 : 1.0, at::kFloat);
  const at::Tensor part = filled(20000, 0, at::kFloat);
  t.reduce_scatter(part, y, Reduction::sum, group)->wait();
  expect(all_equal(part, 16777216.0), "reduce-scatter adds in ascending rank order");
  // bf16 has 8 bits: 256 + 1 rounds to 256, but 256 + 1 + 1 + 1 in fp32 rounds to 260 (ties to even at 4 steps of 2).
  const at::Tensor z = filled(10, t.rank() == 0 ? 256.0 : 1.0, at::kBFloat16);
  t.all_reduce(z, Reduction::sum, group)->wait();
  const at::Tensor once = filled(10, 256.0 + t.size() - 1, at::kFloat).to(at::kBFloat16);
  expect(at::equal(z, once), "bf16 is added in fp32 and rounded once");
}

void all_gather_is_in_rank_order(Transport& t) {
  const Group group = t.make_group(everybody(t));
  const at::Tensor out = filled(5 * t.size(), -1, at::kFloat);
  t.all_gather(out, filled(5, t.rank(), at::kFloat), group)->wait();
  for (std::int32_t r = 0; r < t.size(); ++r) expect(all_equal(out.narrow(0, 5 * r, 5), r), "part r comes from rank r");
}

void reduce_scatter_gives_each_its_part(Transport& t, at::ScalarType type) {
  const Group group = t.make_group(everybody(t));
  const at::Tensor in = at::arange(t.size(), at::TensorOptions().dtype(type)).repeat_interleave(3) + t.rank();
  const at::Tensor out = filled(3, -1, type);
  t.reduce_scatter(out, in.contiguous(), Reduction::sum, group)->wait();
  const double sum_of_ranks = t.size() * (t.size() - 1) / 2.0;
  expect(all_equal(out, t.size() * t.rank() + sum_of_ranks), "rank r gets the sum of parts r");
}

void all_to_all_transposes(Transport& t) {
  const Group group = t.make_group(everybody(t));
  const at::Tensor in = at::arange(t.size(), at::TensorOptions().dtype(at::kFloat)) + 100 * t.rank();
  const at::Tensor out = at::empty_like(in);
  t.all_to_all(out, in, group)->wait();
  expect(at::equal(out, 100 * at::arange(t.size(), at::TensorOptions().dtype(at::kFloat)) + t.rank()),
         "part i comes from member i");
}

void broadcast_comes_from_its_root(Transport& t) {
  const Group group = t.make_group(everybody(t));
  const std::int32_t root = t.size() - 1;
  const at::Tensor x = filled(1000, t.rank(), at::kFloat);
  t.broadcast(x, root, group)->wait();
  expect(all_equal(x, root), "everybody holds the root's values");
}

void barrier_holds_everybody(Transport& t) {
  const Group group = t.make_group(everybody(t));
  // Rank r enters last in round r; nobody may leave a round before its last rank has entered.
  for (std::int32_t round = 0; round < t.size(); ++round) {
    const double entered = now_s();
    if (t.rank() == round) {
      while (now_s() < entered + 0.02) {
      }
    }
    const at::Tensor time = filled(1, now_s(), at::kDouble);
    t.barrier(group)->wait();
    const double left = now_s();
    t.broadcast(time, round, group)->wait();
    expect(left >= time.item<double>(), "nobody leaves a barrier before the last has entered");
  }
}

void groups_work_side_by_side(Transport& t) {
  const Group all = t.make_group(everybody(t));
  std::vector<Group> alone;
  for (std::int32_t r = 0; r < t.size(); ++r) alone.push_back(t.make_group({r}));
  const Group pair = t.make_group({0, t.size() - 1});
  const at::Tensor x = filled(10, t.rank() + 1, at::kFloat), y = filled(10, t.rank() + 1, at::kFloat);
  const at::Tensor z = filled(10, t.rank() + 1, at::kFloat);
  std::vector<WorkHandle> work;
  work.push_back(t.all_reduce(x, Reduction::sum, all));
  if (pair.index >= 0) work.push_back(t.all_reduce(y, Reduction::sum, pair));
  work.push_back(t.all_reduce(z, Reduction::sum, alone[static_cast<std::size_t>(t.rank())]));
  for (const WorkHandle& one : work) one->wait();
  expect(all_equal(x, t.size() * (t.size() + 1) / 2.0), "the group of all");
  if (pair.index >= 0) expect(all_equal(y, 1 + t.size()), "the group of first and last");
  expect(all_equal(z, t.rank() + 1), "a group of one changes nothing");
}

void operations_overlap_and_finish_in_any_order(Transport& t) {
  const Group group = t.make_group(everybody(t));
  std::vector<WorkHandle> work;
  std::vector<at::Tensor> sums, received;
  for (int i = 0; i < 4; ++i) {
    sums.push_back(filled(50000, 1, at::kFloat));
    received.push_back(filled(50000, -1, at::kFloat));
    work.push_back(t.irecv(received.back(), {previous(t), 0, 10 + i}));
    work.push_back(t.all_reduce(sums.back(), Reduction::sum, group));
    work.push_back(t.isend(filled(50000, i, at::kFloat), {next(t), 0, 10 + i}));
  }
  while (!work.empty()) {  // last posted, first waited for
    work.back()->wait();
    work.pop_back();
    t.poll();
  }
  for (int i = 0; i < 4; ++i) {
    expect(all_equal(sums[static_cast<std::size_t>(i)], t.size()), "overlapping all-reduces");
    expect(all_equal(received[static_cast<std::size_t>(i)], i), "overlapping messages");
  }
}

void bad_calls_are_refused(Transport& t) {
  const Group group = t.make_group(everybody(t));
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const TransportError& error) {
      return error.failure() == TransportFailure::refused;
    }
    return false;
  };
  expect(refused([&] { t.isend(filled(3, 0, at::kFloat), {t.rank(), 0, 0}); }), "no message to oneself");
  expect(refused([&] { t.isend(filled(3, 0, at::kFloat), {t.size(), 0, 0}); }), "no peer outside the job");
  expect(refused([&] { t.irecv(filled(4, 0, at::kFloat).view({2, 2}).t(), {next(t), 0, 0}); }), "no strided tensor");
  expect(refused([&] { t.all_gather(filled(3, 0, at::kFloat), filled(2, 0, at::kFloat), group); }) || t.size() * 2 == 3,
         "sizes of an all-gather must fit");
  expect(refused([&] { t.make_group({1, 0}); }), "ranks of a group ascend");
}

void everything(Transport& t) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kLong}) {
    messages_arrive_with_their_content(t, type);
    all_reduce_adds_every_member(t, type);
    reduce_scatter_gives_each_its_part(t, type);
  }
  messages_of_equal_name_keep_their_order(t);
  tags_and_channels_tell_messages_apart(t);
  large_messages_cross_in_both_directions_at_once(t);
  sender_may_drop_its_tensor(t);
  all_reduce_takes_the_maximum(t);
  sums_follow_rank_order(t);
  all_gather_is_in_rank_order(t);
  all_to_all_transposes(t);
  broadcast_comes_from_its_root(t);
  barrier_holds_everybody(t);
  groups_work_side_by_side(t);
  operations_overlap_and_finish_in_any_order(t);
  bad_calls_are_refused(t);
}

}  // namespace stagecraft::contract
