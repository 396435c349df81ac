import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns how many established TCP connections over IPv4 a process has to this remote port. Linux only. */
export function connectionsTo(pid: number, port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const line of readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)) {
    const [, , remote, state, , , , , , inode] = line.trim().split(/\s+/);
    if (remote?.endsWith(wanted) && state === established && inode) inodes.add(`socket:[${inode}]`);
  }
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => inodes.has(linkOf(`/proc/${pid}/fd/${fd}`))).length;
}

const established = '01';

/** An open file may close between the listing and this call. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Returns how many processes listen on this TCP port together. Linux only. */
export function listenersOn(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  // The second field is the local address, the fourth the state: 0A = listening.
  return sockets.map((line) => line.trim().split(/\s+/)).filter((fields) => fields[1]?.endsWith(local) && fields[3] === '0A')
    .length;
}
