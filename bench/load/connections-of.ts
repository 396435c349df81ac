import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns how many established connections to this local port a process has. 0 if the process has ended. */
export function connectionsOf(pid: number, port: number): number {
  return socketsOf(pid, port, '01');
}

/** True if the process has a socket that accepts connections on this port. */
export function isListening(pid: number, port: number): boolean {
  return socketsOf(pid, port, '0A') > 0;
}

/** Returns the sockets of a process in one state, a number of `enum` in the kernel's tcp_states.h (proc(5): `net/tcp`, `fd`). */
function socketsOf(pid: number, port: number, wanted: '01' | '0A'): number {
  try {
    const inodes = new Set<string>();
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
    const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
    return rows.filter((row) => {
      const [, local, , state, , , , , , inode] = row.trim().split(/\s+/);
      return local?.endsWith(suffix) && state === wanted && inode !== undefined && inodes.has(inode);
    }).length;
  } catch {
    return 0;
  }
}

/** A descriptor may be closed between listing and reading. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
