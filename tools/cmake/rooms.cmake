# A room is one static library with an include path of its own: `#include "room/header.hpp"` compiles only in targets that
# list the room (or a room that lists it) under USES. A forbidden include therefore does not compile.

add_library(stagecraft_warnings INTERFACE)
target_compile_options(stagecraft_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual
  -Wdouble-promotion
  # GCC 12 takes `"literal" + std::string` for an overlapping or overflowing copy where it inlines much (GCC bug 105651).
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")

if(STAGECRAFT_SANITIZE)
  add_compile_options(-fsanitize=${STAGECRAFT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STAGECRAFT_SANITIZE})
endif()

# Most of the time to compile a small file goes into these.
set(stagecraft_standard_headers
  <algorithm> <array> <cmath> <compare> <cstdint> <functional> <map> <memory> <optional> <span> <stdexcept> <string>
  <string_view> <utility> <vector>)

function(stagecraft_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PRIVATE_LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  set(view ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  add_library(stagecraft_${name} STATIC ${sources})
  set_target_properties(stagecraft_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(stagecraft_${name} PUBLIC ${view})
  foreach(used ${ROOM_USES})
    target_link_libraries(stagecraft_${name} PUBLIC stagecraft_${used})
  endforeach()
  target_link_libraries(stagecraft_${name} PRIVATE stagecraft_warnings ${ROOM_PRIVATE_LIBRARIES})
  target_precompile_headers(stagecraft_${name} PRIVATE ${stagecraft_standard_headers})
endfunction()
