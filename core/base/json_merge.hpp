#pragma once
// Layers of JSON: a file extends another, the command line sets values on top. Objects merge member by member, anything
// else is replaced. Every value keeps the origin it was written at.

#include <functional>
#include <string>
#include <vector>

#include "base/json_reader.hpp"

namespace stagecraft {

/// A place that may hold a short string or an object: "cluster": "selene" is short for {"extends": "selene"}. An object
/// laid over the string merges with that long form; an object that has all keys of one of the sets in `restarts` is
/// complete by itself and replaces what is below.
struct ShortForm {
  std::string pointer;                             // "/cluster", in the merged document
  std::string key;                                 // "extends"
  std::vector<std::vector<std::string>> restarts;  // {{"extends"}, {"gpu", "node", "fabric"}}
};

/// `above` laid over `below`.
JsonDocument merge(const JsonNode& below, const JsonNode& above, const std::vector<ShortForm>& short_forms = {});

/// A document of its own that holds `node` without the members named in `without`; pointers in messages stay those of
/// the file.
JsonDocument copy_of(const JsonNode& node, const std::vector<std::string>& without = {});

/// Follows "extends" (a string) from the file at `path` to the root and merges, nearest last; the result has no
/// "extends". `locate` turns the value of an "extends" into a path, or throws InputError at it. Cycles and chains
/// longer than 32 are refused with the chain shown.
JsonDocument load_extended(const std::string& path, const std::function<std::string(const JsonNode&)>& locate,
                           const std::vector<ShortForm>& short_forms = {});

/// The same for an object inside another document: {"extends": "selene", "nodes": 4}, or a bare string that names the
/// base.
JsonDocument load_extended(const JsonNode& node, const std::function<std::string(const JsonNode&)>& locate,
                           const std::vector<ShortForm>& short_forms = {});

/// One "PATH=VALUE" of --set as a document whose origin is "--set": "parallel.tensor=8" gives {"parallel": {"tensor":
/// 8}}. PATH is dotted keys or a JSON pointer; VALUE is JSON or else a plain string. A key that meets a list below is a
/// position in it: "parallel.partition.0=5" changes its first element.
JsonDocument parse_override(const std::string& text);

}  // namespace stagecraft
