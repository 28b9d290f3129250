#include <cuda_runtime_api.h>

#include "exec/launch/preflight.hpp"

namespace stagecraft {

std::vector<DeviceFacts> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<DeviceFacts> devices;
  int before = 0;
  cudaGetDevice(&before);
  for (int device = 0; device < count; ++device) {
    DeviceFacts facts;
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) == cudaSuccess) facts.name = properties.name;
    std::size_t free = 0, total = 0;
    if (cudaSetDevice(device) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess) {
      facts.memory_free = static_cast<double>(free);
      facts.memory_total = static_cast<double>(total);
    }
    for (int other = 0; other < count; ++other) {
      int access = 1;
      if (other != device && cudaDeviceCanAccessPeer(&access, device, other) == cudaSuccess) {
        facts.peer_access = facts.peer_access && access != 0;
      }
    }
    devices.push_back(facts);
  }
  cudaSetDevice(before);
  return devices;
}

}  // namespace stagecraft
