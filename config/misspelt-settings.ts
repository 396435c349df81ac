import type { Environment } from './load-settings.ts';
import { settingsTable } from './settings-table.ts';

/**
 * One line per environment variable that is none of ours but looks like one of them: `GATEWAY_PROCESES` would otherwise be
 * ignored in silence. Short names are left alone, since too many foreign variables are close to them.
 */
export function misspeltSettings(env: Environment): string[] {
  const ours = Object.values(settingsTable).map((row) => row.name);
  const known = new Set(ours);
  const lines: string[] = [];
  for (const name of Object.keys(env)) {
    if (known.has(name) || name.length < 6) continue;
    const bare = bareName(name);
    const meant = ours.find((own) => own.length >= 6 && distance(bare, bareName(own)) <= (own.length >= 9 ? 2 : 1));
    if (meant !== undefined) lines.push(`${name}: no such setting; did you mean ${meant}?`);
  }
  return lines;
}

function bareName(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

/** Edits (insert, delete, replace, swap neighbours) from one text to the other; optimal string alignment. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (beforeLast[j - 2] as number) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
