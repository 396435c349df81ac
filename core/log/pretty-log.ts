const levels: Readonly<Record<string, string>> = { debug: 'DEBUG', info: 'INFO ', warn: 'WARN ', error: 'ERROR', fatal: 'FATAL' };

/**
 * Returns one log line for people: time, level, process, message and fields. Takes a line of the JSON log. Text that is not JSON
 * is returned unchanged. Values with line breaks (stacks) follow on lines of their own. No control character of a value is
 * printed.
 */
export function prettyLogLine(line: string): string {
  const entry = parse(line);
  if (entry === null) return line;
  const { level, time, name, slot, pid: _pid, msg, ...fields } = entry;
  const process = slot === undefined ? String(name) : `${name} ${slot}`;
  const short: string[] = [];
  const long: string[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value.includes('\n'))
      long.push(`\n    ${escaped(key)}:`, ...value.split('\n').map(indented));
    else if (value !== null && value !== undefined) short.push(` ${escaped(key)}=${shown(value)}`);
  }
  return `${clockTime(time)} ${levels[String(level)] ?? level} ${escaped(process)}: ${escaped(String(msg))}${short.join('')}${long.join('')}\n`;
}

function parse(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** `06:24:41.123`, in UTC. */
function clockTime(time: unknown): string {
  return String(time).slice(11, 23);
}

function indented(line: string): string {
  return `\n      ${escaped(line.trim())}`;
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=\\]+$/.test(value)) return escaped(value);
  return JSON.stringify(value);
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
}

/** True if LOG_FORMAT selects lines for people on this process's standard output. */
export function isPretty(format: 'auto' | 'json' | 'pretty'): boolean {
  return format === 'auto' ? process.stdout.isTTY === true : format === 'pretty';
}
