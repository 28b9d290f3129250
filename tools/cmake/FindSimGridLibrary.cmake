# Finds an installed SimGrid (Debian ships no package configuration file) and defines the target SimGrid::SimGrid.
find_path(SimGridLibrary_INCLUDE_DIR simgrid/s4u.hpp)
find_library(SimGridLibrary_LIBRARY simgrid)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGridLibrary REQUIRED_VARS SimGridLibrary_LIBRARY SimGridLibrary_INCLUDE_DIR)
if(SimGridLibrary_FOUND AND NOT TARGET SimGrid::SimGrid)
  add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::SimGrid PROPERTIES
    IMPORTED_LOCATION ${SimGridLibrary_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SimGridLibrary_INCLUDE_DIR})
endif()
