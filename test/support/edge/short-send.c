/*
 * Preloaded into a server process: sends on TCP sockets are forced short. One call in ten gives EAGAIN or takes only half of
 * what it was given, by a fixed pseudo-random sequence (seed in SHORT_SEND_SEED), so that every way a partial write can
 * happen is met on purpose. Counts what it did into the file named by SHORT_SEND_COUNT when the process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t state;
static unsigned long calls, again, halves;

static int is_tcp(int fd) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  int type = 0;
  socklen_t type_length = sizeof type;
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return 0;
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return 0;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) == 0 && type == SOCK_STREAM;
}

/* xorshift64 */
static uint64_t next(void) {
  if (state == 0) {
    const char *seed = getenv("SHORT_SEND_SEED");
    state = 88172645463325252ull ^ (seed ? strtoull(seed, NULL, 10) * 2654435761ull : 0);
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* -1 = EAGAIN, else how many bytes to pass on. */
static ssize_t allowed(int fd, size_t length) {
  if (length == 0 || !is_tcp(fd)) return (ssize_t)length;
  calls++;
  if (next() % 10 != 0) return (ssize_t)length;
  if (length == 1 || next() % 2 == 0) {
    again++;
    errno = EAGAIN;
    return -1;
  }
  halves++;
  return (ssize_t)(length / 2);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  static ssize_t (*real)(int, const void *, size_t, int);
  if (!real) real = dlsym(RTLD_NEXT, "send");
  ssize_t some = allowed(fd, length);
  return some < 0 ? -1 : real(fd, bytes, (size_t)some, flags);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  ssize_t some = allowed(fd, length);
  return some < 0 ? -1 : real(fd, bytes, (size_t)some);
}

/* Of several buffers the first half-length worth is passed on, in whole buffers and a part of one. */
static int shorten(const struct iovec *from, int count, size_t limit, struct iovec *to, int max) {
  int used = 0;
  for (int i = 0; i < count && limit > 0 && used < max; i++) {
    to[used] = from[i];
    if (to[used].iov_len > limit) to[used].iov_len = limit;
    limit -= to[used].iov_len;
    used++;
  }
  return used;
}

static size_t total(const struct iovec *buffers, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += buffers[i].iov_len;
  return sum;
}

ssize_t writev(int fd, const struct iovec *buffers, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  if (!real) real = dlsym(RTLD_NEXT, "writev");
  size_t all = total(buffers, count);
  ssize_t some = allowed(fd, all);
  if (some < 0) return -1;
  if ((size_t)some == all) return real(fd, buffers, count);
  struct iovec part[64];
  return real(fd, part, shorten(buffers, count, (size_t)some, part, 64));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  if (!real) real = dlsym(RTLD_NEXT, "sendmsg");
  size_t all = total(message->msg_iov, (int)message->msg_iovlen);
  ssize_t some = allowed(fd, all);
  if (some < 0) return -1;
  if ((size_t)some == all) return real(fd, message, flags);
  struct iovec part[64];
  struct msghdr shorter = *message;
  shorter.msg_iov = part;
  shorter.msg_iovlen = (size_t)shorten(message->msg_iov, (int)message->msg_iovlen, (size_t)some, part, 64);
  return real(fd, &shorter, flags);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("SHORT_SEND_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "{\"calls\":%lu,\"again\":%lu,\"halves\":%lu}\n", calls, again, halves);
  fclose(file);
}
