import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** How many established connections to this local port a process holds (proc(5): `net/tcp`, `fd`). 0 when the process has ended. */
export function connectionsOf(pid: number, port: number): number {
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
      return local?.endsWith(suffix) && state === '01' && inode !== undefined && inodes.has(inode);
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
