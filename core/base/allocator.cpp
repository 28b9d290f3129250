#include "base/allocator.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace stagecraft {

void keep_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
#endif
}

}  // namespace stagecraft
