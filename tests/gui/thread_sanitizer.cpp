// What the thread sanitizer is told of Qt, which is not built with it. Part of every program with a window, in that
// build alone.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

/// What orders the threads of these libraries it does not see. Left out is what it finds in their calls of the C
/// library and in the queue of X events; every access in code of ours is still watched.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libQt6Core.so\n"
         "called_from_lib:libQt6Gui.so\n"
         "called_from_lib:libQt6Widgets.so\n"
         "called_from_lib:libpng16.so\n"
         "called_from_lib:libglib-2.0.so\n"
         "race:QXcbConnection::processXcbEvents\n"
         "race:QXcbEventQueue\n";
}

/// QProcess clones a child that shares its memory until exec. The child's hooks then change what the sanitizer knows of
/// the parent, which it stops watching. A fork does the same job without that.
extern "C" int clone(int (*entry)(void*), void*, int flags, void* argument, ...) {
  va_list rest;
  va_start(rest, argument);
  auto* const descriptor = va_arg(rest, pid_t*);
  va_end(rest);
  if ((flags & CLONE_VFORK) == 0) return errno = ENOSYS, -1;  // nobody else clones
  const pid_t child = ::fork();
  if (child == 0) ::_exit(entry(argument));
  if (child > 0 && (flags & CLONE_PIDFD) != 0) *descriptor = static_cast<pid_t>(::syscall(SYS_pidfd_open, child, 0));
  return child;
}
