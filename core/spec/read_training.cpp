#include "spec/read_training.hpp"

namespace stagecraft {
namespace {

constexpr double year_s = 31557600;

FailureSpec read_failures(const JsonNode& node, Reading& reading) {
  FailureSpec failures;
  ObjectReader fields(node, "/training/failures", reading);
  fields.optional("gpu_hours", failures.gpu_hours, number_in(1, 1e12));
  fields.optional("interruptions_per_day", failures.interruptions_per_day, number_in(0, 1e4));
  fields.optional("restart_s", failures.restart_s, number_in(0, year_s));
  fields.optional("checkpoint_s", failures.checkpoint_s, number_in(0, year_s));
  fields.optional("interval_s", failures.interval_s, number_in(1, year_s));
  fields.finish();
  return failures;
}

std::vector<PowerPoint> read_power(const JsonNode& node, Reading& reading) {
  const std::vector<JsonNode> elements = node.elements();
  if (elements.empty() || elements.size() > 64) node.fail("1 to 64 points with \"busy\" and \"watts\"");
  std::vector<PowerPoint> points;
  for (const JsonNode& element : elements) {
    PowerPoint point;
    ObjectReader fields(element, "/training/power/" + std::to_string(points.size()), reading);
    fields.required("busy", point.busy, number_in(0, 1));
    fields.required("watts", point.watts, number_in(0, 1e5));
    fields.finish();
    if (!points.empty() && point.busy <= points.back().busy) {
      element.fail("points that ascend in \"busy\"", "", text_of_number(point.busy));
    }
    points.push_back(point);
  }
  return points;
}

JitterSpec read_jitter(const JsonNode& node, Reading& reading) {
  JitterSpec jitter;
  ObjectReader fields(node, "/training/jitter", reading);
  fields.required("spread", jitter.spread, number_in(0, 2));
  fields.optional("seed", jitter.seed, integer_in(0, std::int64_t{1} << 53));
  fields.optional("samples", jitter.samples, integer_in(1, 1000));
  fields.finish();
  return jitter;
}

}  // namespace

TrainingSpec read_training(const JsonNode& node, Reading& reading) {
  TrainingSpec training;
  ObjectReader fields(node, "/training", reading);
  fields.optional("tokens", training.tokens, number_in(1, 1e18));
  fields.optional("price_per_gpu_hour", training.price_per_gpu_hour, number_in(0, 1e6));
  fields.optional("failures", training.failures, [&](const JsonNode& value) { return read_failures(value, reading); });
  fields.optional("evaluation_s", training.evaluation_s, number_in(0, year_s));
  fields.optional("evaluation_steps", training.evaluation_steps, integer_in(1, std::int64_t{1} << 40));
  fields.optional("power", training.power, [&](const JsonNode& value) { return read_power(value, reading); });
  fields.optional("power_usage_effectiveness", training.power_usage_effectiveness, number_in(1, 10));
  fields.optional("jitter", training.jitter, [&](const JsonNode& value) { return read_jitter(value, reading); });
  fields.finish();
  return training;
}

}  // namespace stagecraft
