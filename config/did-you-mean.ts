/**
 * Returns the known name that `given` is probably a misspelling of. Null if none is close. Letter case and punctuation do not
 * count. Names shorter than `lengthMin` are ignored on both sides, because too many words are close to them.
 */
export function nearestName(given: string, known: readonly string[], lengthMin = 4): string | null {
  const bare = bareName(given);
  if (bare.length < lengthMin) return null;
  let nearest: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    if (name.length < lengthMin) continue;
    const edits = editDistance(bare, bareName(name));
    if (edits >= least || edits > (name.length >= 9 ? 2 : 1)) continue;
    nearest = name;
    least = edits;
  }
  return nearest;
}

/** Returns `; did you mean …?` for a misspelt name, and an empty text if no known name is close. */
export function didYouMean(given: string, known: readonly string[]): string {
  const meant = nearestName(given, known);
  return meant === null ? '' : `; did you mean ${meant}?`;
}

function bareName(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}

/**
 * Returns the number of edits (insert, delete, replace, swap neighbours) from one text to the other; optimal string alignment. 3
 * stands for "more than 2".
 */
function editDistance(a: string, b: string): number {
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
