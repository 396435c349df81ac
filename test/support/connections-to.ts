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
