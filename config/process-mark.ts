import { readFileSync, statSync } from 'node:fs';

/**
 * Names a process for a lock file: `<pid> <start time>`. Process ids are used again; the same number with another start time is
 * another process.
 */
function processMark(pid: number): string {
  return `${pid} ${startedAt(pid)}`;
}

/** Returns true while the process of this mark runs. False for other text. */
function isMarkAlive(mark: string): boolean {
  const [pidText, started] = mark.split(' ');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return started === startedAt(pid);
}

/**
 * Returns the mark of a process that uses a folder: its own mark, and the folder's device and number. Throws if the folder does
 * not exist.
 */
export function folderMark(pid: number, folder: string): string {
  return `${processMark(pid)} ${folderNumber(folder)}`;
}

/**
 * True while the process of this mark runs and uses this very folder. A copy of the folder holds the same mark, although its
 * process uses the original. A mark without a folder, as older versions wrote it, matches every folder.
 */
export function isFolderMarkAlive(mark: string, folder: string): boolean {
  const number = mark.split(' ')[2];
  return (number === undefined || number === folderNumber(folder)) && isMarkAlive(mark);
}

function folderNumber(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/** Returns the start time of a process in clock ticks since boot (Linux: proc(5), field 22); `-` on other systems. */
function startedAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}
