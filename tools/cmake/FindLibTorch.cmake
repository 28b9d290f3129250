# Finds LibTorch of a supported version and defines
#   Torch::cpu    headers, libtorch_cpu and libc10: all that a CPU executor links
#   Torch::cuda   libtorch_cuda and libc10_cuda on top; only where the CUDA toolkit and NCCL are found
# Looked for in this order: STAGECRAFT_TORCH_ROOT (a folder that holds torch/include and torch/lib), the PyTorch that python3
# has installed, the folder that tools/fetch_torch fills. The libraries are imported by hand: PyTorch's own package file
# demands a CUDA set-up even for the CPU.
set(STAGECRAFT_TORCH_ROOT "" CACHE PATH "Folder that holds torch/include and torch/lib")
set(LibTorch_SUPPORTED "2.11")

function(_libtorch_version root result)
  set(${result} "" PARENT_SCOPE)
  set(header "${root}/torch/include/torch/headeronly/version.h")
  if(NOT EXISTS "${header}")
    return()
  endif()
  file(STRINGS "${header}" lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

set(_candidates)
if(STAGECRAFT_TORCH_ROOT)
  list(APPEND _candidates "${STAGECRAFT_TORCH_ROOT}")
else()
  execute_process(
    COMMAND python3 -c "import importlib.util as u; s = u.find_spec('torch'); print(list(s.submodule_search_locations)[0] if s else '')"
    OUTPUT_VARIABLE _installed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(_installed)
    get_filename_component(_installed "${_installed}" DIRECTORY)
    list(APPEND _candidates "${_installed}")
  endif()
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/fetch_torch --where
    OUTPUT_VARIABLE _fetched OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _candidates "${_fetched}")
endif()

set(LibTorch_ROOT_DIR "")
foreach(_root ${_candidates})
  _libtorch_version("${_root}" _version)
  if(_version MATCHES "^2\\.11\\." AND EXISTS "${_root}/torch/lib/libtorch_cpu.so")
    set(LibTorch_ROOT_DIR "${_root}")
    set(LibTorch_VERSION "${_version}")
    break()
  elseif(_version)
    message(STATUS "LibTorch ${_version} in ${_root} is not a supported version (${LibTorch_SUPPORTED})")
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT_DIR VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET Torch::cpu)
  set(_lib "${LibTorch_ROOT_DIR}/torch/lib")
  add_library(Torch::c10 SHARED IMPORTED)
  set_target_properties(Torch::c10 PROPERTIES IMPORTED_LOCATION "${_lib}/libc10.so")
  add_library(Torch::torch_cpu SHARED IMPORTED)
  set_target_properties(Torch::torch_cpu PROPERTIES IMPORTED_LOCATION "${_lib}/libtorch_cpu.so")
  add_library(Torch::cpu INTERFACE IMPORTED)
  target_link_libraries(Torch::cpu INTERFACE Torch::torch_cpu Torch::c10)
  target_include_directories(Torch::cpu SYSTEM INTERFACE "${LibTorch_ROOT_DIR}/torch/include")
  target_link_options(Torch::cpu INTERFACE
    "-Wl,-rpath-link,${_lib}:${LibTorch_ROOT_DIR}/nvidia/cu13/lib")

  find_package(CUDAToolkit QUIET)
  find_path(LibTorch_NCCL_INCLUDE_DIR nccl.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} "${LibTorch_ROOT_DIR}/nvidia/nccl/include")
  find_library(LibTorch_NCCL_LIBRARY NAMES nccl libnccl.so.2
    HINTS ${CUDAToolkit_LIBRARY_DIR} "${LibTorch_ROOT_DIR}/nvidia/nccl/lib")
  mark_as_advanced(LibTorch_NCCL_INCLUDE_DIR LibTorch_NCCL_LIBRARY)
  if(CUDAToolkit_FOUND AND LibTorch_NCCL_INCLUDE_DIR AND LibTorch_NCCL_LIBRARY AND EXISTS "${_lib}/libtorch_cuda.so")
    set(LibTorch_CUDA_FOUND TRUE)
    set(_nvidia "${LibTorch_ROOT_DIR}/nvidia")
    set(_search "${CUDAToolkit_LIBRARY_DIR}")
    foreach(_part cu13 cusparselt nvshmem cudnn nccl)
      string(APPEND _search ":${_nvidia}/${_part}/lib")
    endforeach()
    add_library(Torch::torch_cuda SHARED IMPORTED)
    set_target_properties(Torch::torch_cuda PROPERTIES IMPORTED_LOCATION "${_lib}/libtorch_cuda.so")
    add_library(Torch::c10_cuda SHARED IMPORTED)
    set_target_properties(Torch::c10_cuda PROPERTIES IMPORTED_LOCATION "${_lib}/libc10_cuda.so")
    add_library(Torch::cuda INTERFACE IMPORTED)
    # Nothing refers to a symbol of libtorch_cuda, yet it must be loaded: it registers the CUDA kernels.
    target_link_libraries(Torch::cuda INTERFACE Torch::cpu
      -Wl,--push-state,--no-as-needed Torch::torch_cuda Torch::c10_cuda -Wl,--pop-state
      CUDA::cudart "${LibTorch_NCCL_LIBRARY}")
    target_include_directories(Torch::cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} "${LibTorch_NCCL_INCLUDE_DIR}")
    target_link_options(Torch::cuda INTERFACE "-Wl,-rpath-link,${_search}" "-Wl,--disable-new-dtags,-rpath,${_search}")
  endif()
endif()
