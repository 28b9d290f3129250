#include "spec/read_memory.hpp"

#include "spec/read_model.hpp"
#include "spec/read_run.hpp"
#include "spec/recipe.hpp"
#include "spec/usual_choices.hpp"

namespace stagecraft {
namespace {

template <class Choice>
std::string printed(Choice choice) {
  return to_text(choice);
}

ShardingSpec read_sharding(const JsonNode& node, ShardingSpec sharding, Reading& reading) {
  ObjectReader fields(node, "/sharding", reading);
  fields.defaulted("group", sharding.group, integer_in(0, run_limits::data), text_of,
                   "0: one copy over the whole data group");
  fields.defaulted("unit", sharding.unit, word_of(shard_unit_words), printed<ShardUnit>,
                   "blocks without a pipeline, whole stages with one");
  fields.defaulted("prefetch", sharding.prefetch, integer_in(0, model_limits::blocks), text_of,
                   "the next unit is gathered while one is in use");
  fields.defaulted("reshard_after_forward", sharding.reshard_after_forward, read_boolean, text_of_bool,
                   "gathered parameters are dropped after each use");
  fields.optional("reduce_each_micro_batch", sharding.reduce_each_micro_batch, read_boolean);
  fields.optional("secondary", sharding.secondary, integer_in(0, run_limits::data));
  fields.optional("int8_gather", sharding.int8_gather, read_boolean);
  fields.optional("int4_reduce", sharding.int4_reduce, read_boolean);
  fields.optional("reduce_scatter", sharding.reduce_scatter, read_boolean);
  fields.finish();
  return sharding;
}

OffloadSpec read_offload(const JsonNode& node, Reading& reading) {
  OffloadSpec offload;
  ObjectReader fields(node, "/offload", reading);
  fields.defaulted("optimizer", offload.optimizer, word_of(home_words), printed<Home>, "stays on the GPU");
  fields.defaulted("parameters", offload.parameters, word_of(home_words), printed<Home>, "stay on the GPU");
  fields.defaulted("activations", offload.activations, word_of(home_words), printed<Home>, "stay on the GPU");
  fields.optional("activation_blocks", offload.activation_blocks, integer_in(0, model_limits::blocks));
  Seconds adam{offload.host_adam_s};
  const auto read = [](const JsonNode& value) { return read_seconds(value, {1e-15}, {1}); };
  if (offload.optimizer == Home::gpu) {
    fields.optional("host_adam_per_parameter", adam, read);
  } else {
    fields.defaulted(
        "host_adam_per_parameter", adam, read, [](Seconds value) { return to_text(value); },
        "DeepSpeed's CPU Adam on a DGX-2: 10 G parameters in 2.57 s (arXiv 2101.06840, table 4)");
  }
  offload.host_adam_s = adam.value;
  fields.finish();
  return offload;
}

RecomputeModules read_modules(const JsonNode& node) {
  RecomputeModules modules{.core_attention = false};
  const std::vector<JsonNode> elements = node.elements();
  if (elements.empty()) node.fail("at least one module");
  for (const JsonNode& element : elements) {
    const std::string word = read_one_of(element, list_of(recompute_module_words));
    for (const auto& [module, name] : recompute_module_words) {
      if (word == name) modules.*module = true;
    }
  }
  return modules;
}

void read_recompute_scope(ObjectReader& scenario, RunSpec& run) {
  scenario.optional("recompute_modules", run.recompute_modules, read_modules);
  const bool full = run.recompute == Recompute::full;
  const auto scope = word_of(recompute_scope_words);
  if (full) {
    scenario.defaulted("recompute_scope", run.recompute_scope, scope, printed<RecomputeScope>,
                       "every block keeps its input only");
  } else {
    scenario.optional("recompute_scope", run.recompute_scope, scope);
  }
  const auto blocks = integer_in(1, model_limits::blocks);
  if (run.recompute_scope == RecomputeScope::every_block || run.recompute_scope == RecomputeScope::square_root) {
    scenario.optional("recompute_blocks", run.recompute_blocks, blocks);
  } else {
    scenario.required("recompute_blocks", run.recompute_blocks, blocks);
  }
}

/// A recipe says in which format gradients are kept; whoever writes "fp32_gradients" as well must mean the same.
void read_recipe(ObjectReader& scenario, RunSpec& run) {
  StateRecipe recipe = recipe_of(run);
  const auto read = [&](const JsonNode& node) {
    const StateRecipe chosen = word_of(state_recipe_words)(node);
    const bool wide = bytes_of(chosen).gradient >= 4;
    if (scenario.object().find("fp32_gradients") && wide != run.fp32_gradients) {
      node.fail(run.fp32_gradients ? "a recipe with fp32 gradients, as \"fp32_gradients\" asks for"
                                   : "a recipe with 16-bit gradients, since \"fp32_gradients\" is false");
    }
    return chosen;
  };
  scenario.defaulted("recipe", recipe, read, printed<StateRecipe>, "the usual states of this precision");
  run.recipe = recipe;
  run.fp32_gradients = bytes_of(recipe).gradient >= 4;
}

}  // namespace

void read_memory(ObjectReader& scenario, const ModelSpec& model, RunSpec& run) {
  read_recompute_scope(scenario, run);
  read_recipe(scenario, run);
  scenario.defaulted("optimizer", run.optimizer, word_of(optimizer_words), printed<Optimizer>,
                     "what large models are trained with");
  scenario.defaulted("framework", run.framework, word_of(framework_words), printed<Framework>,
                     "whose habits with memory count where frameworks differ");
  scenario.defaulted("loss_kernel", run.loss_kernel, word_of(loss_kernel_words), printed<LossKernel>,
                     "as Megatron-LM computes it");
  const auto sharding = scenario.object().find("sharding");
  run.left_to_layout.shard_unit = !sharding || !sharding->is(JsonKind::object) || !sharding->find("unit");
  run.sharding.unit = usual_shard_unit(model, run.parallel);
  const bool given = scenario.optional("sharding", run.sharding, [&](const JsonNode& node) {
    return read_sharding(node, run.sharding, scenario.reading());
  });
  if (!given && run.zero_stage > 1) {
    scenario.note("sharding", to_text(run.sharding.unit) + " by " + to_text(run.sharding.unit),
                  "blocks without a pipeline, whole stages with one");
  }
  scenario.optional("offload", run.offload,
                    [&](const JsonNode& node) { return read_offload(node, scenario.reading()); });
  scenario.optional("fp8_scaling", run.fp8_scaling, word_of(fp8_scaling_words));
  scenario.optional("expandable_segments", run.expandable_segments, read_boolean);
}

}  // namespace stagecraft
